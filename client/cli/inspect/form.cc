#include "client/cli/inspect/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "client/cli/inspect/schema_text.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/base/result.h"

namespace cellblock::cli {
namespace {

using client::Result;

constexpr std::size_t most_fields = 64;

std::unexpected<client::Error> wrong_answer(std::string text) {
  return std::unexpected(
      client::Error{.code = client::ErrorCode::invalid_argument, .text = std::move(text)});
}

struct Choice {
  Json value;
  std::string title;
};

// `enum` with `enumNames`, or `oneOf`/`anyOf` with constants.
std::vector<Choice> choices_of(const Json& schema) {
  std::vector<Choice> choices;
  for (const char* name : {"oneOf", "anyOf"}) {
    for (const auto& one : objects_of(schema, name)) {
      if (one.contains("const")) choices.push_back({one["const"], text_of(one, "title")});
    }
  }
  if (!schema.contains("enum") || !schema["enum"].is_array()) return choices;
  const auto titles = texts_of(schema, "enumNames");
  for (const auto& value : schema["enum"]) {
    choices.push_back({value, choices.size() < titles.size() ? titles[choices.size()] : ""});
  }
  return choices;
}

std::string choice_text(const Choice& choice) {
  auto text = choice.value.is_string() ? safe_line(choice.value.get<std::string>())
                                       : safe_line(choice.value.dump());
  return choice.title.empty() ? text : fmt::format("{} ({})", text, choice.title);
}

std::string choices_text(const std::vector<Choice>& choices) {
  std::vector<std::string> texts;
  texts.reserve(choices.size());
  for (const auto& choice : choices) texts.push_back(choice_text(choice));
  return fmt::format("{}", fmt::join(texts, ", "));
}

Result<Json> chosen(const std::vector<Choice>& choices, std::string_view typed) {
  const auto found = std::ranges::find_if(choices, [&](const Choice& choice) {
    return choice.value == Json(typed) || choice.value.dump() == typed ||
           (!choice.title.empty() && choice.title == typed);
  });
  if (found == choices.end()) return wrong_answer("it is one of: " + choices_text(choices));
  return found->value;
}

Result<Json> yes_or_no(std::string_view typed) {
  for (const std::string_view yes : {"y", "yes", "true"}) {
    if (typed == yes) return Json(true);
  }
  for (const std::string_view no : {"n", "no", "false"}) {
    if (typed == no) return Json(false);
  }
  return wrong_answer("it is yes or no");
}

Result<Json> number(std::string_view typed, std::string_view type) {
  auto value = Json::parse(typed, nullptr, false);
  if (type == "integer" && !value.is_number_integer()) return wrong_answer("it is a whole number");
  if (!value.is_number()) return wrong_answer("it is a number");
  return value;
}

Result<Json> value_at(const Json& schema, std::string_view typed);

Result<Json> elements(const Json& items, std::string_view typed) {
  auto list = Json::array();
  while (!typed.empty()) {
    const auto end = std::min(typed.find(','), typed.size());
    auto element = CELLBLOCK_TRY(value_at(items, trimmed(typed.substr(0, end))));
    list.push_back(std::move(element));
    typed.remove_prefix(std::min(end + 1, typed.size()));
  }
  return list;
}

Result<Json> value_at(const Json& schema, std::string_view typed) {
  const auto type = text_of(schema, "type");
  if (type == "array") return elements(object_of(schema, "items"), typed);
  if (const auto choices = choices_of(schema); !choices.empty()) return chosen(choices, typed);
  if (type == "boolean") return yes_or_no(typed);
  if (type == "integer" || type == "number") return number(typed, type);
  return Json(typed);
}

std::string default_text(const Json& schema) {
  if (!schema.contains("default")) return {};
  const auto& value = schema["default"];
  return fmt::format(
      " [{}]", value.is_string() ? safe_line(value.get<std::string>()) : safe_line(value.dump()));
}

std::string type_of_field(const FormField& field) {
  const auto items = object_of(field.schema, "items");
  const auto choices = choices_of(items.empty() ? field.schema : items);
  if (choices.empty()) return type_text(field.schema);
  return (items.empty() ? "one of: " : "any of, with commas: ") + choices_text(choices);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<FormField> form_fields(const Json& requested_schema) {
  std::vector<FormField> fields;
  if (!requested_schema.is_object()) return fields;
  const auto required = requested_schema.value("required", Json::array());
  const auto properties = object_of(requested_schema, "properties");
  for (const auto& [name, schema] : properties.items()) {
    if (!schema.is_object() || fields.size() == most_fields) continue;
    const bool must = std::ranges::find(required, Json(name)) != required.end();
    fields.push_back({.name = name, .schema = schema, .required = must});
  }
  return fields;
}

std::string field_prompt(const FormField& field) {
  const auto description = text_of(field.schema, "description");
  return fmt::format("{}{}{} ({}{}){}: ", description, description.empty() ? "" : "\n  ",
                     safe_line(field.name), type_of_field(field),
                     field.required ? ", required" : "", default_text(field.schema));
}

Result<Json> field_value(const FormField& field, std::string_view typed) {
  typed = trimmed(typed);
  if (!typed.empty()) return value_at(field.schema, typed);
  if (field.schema.contains("default")) return field.schema["default"];
  if (field.required) return wrong_answer("it is required");
  return Json();
}

}  // namespace cellblock::cli
