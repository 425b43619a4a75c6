#include "client/cli/inspect/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "client/cli/inspect/offer_text.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/base/result.h"
#include "policy/base/trimmed.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

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

namespace {

enum class Consent : std::uint8_t { accept, decline, cancel };

std::string action(std::string_view word) { return fmt::format(R"({{"action":"{}"}})", word); }

bool is_beginning_of_any(std::string_view typed, std::initializer_list<std::string_view> words) {
  return !typed.empty() &&
         std::ranges::any_of(words, [&](std::string_view word) { return word.starts_with(typed); });
}

std::optional<Consent> consent_of(std::string_view typed) {
  if (is_beginning_of_any(typed, {"answer", "accept", "yes"})) return Consent::accept;
  if (is_beginning_of_any(typed, {"decline", "no"})) return Consent::decline;
  if (is_beginning_of_any(typed, {"cancel"})) return Consent::cancel;
  return std::nullopt;
}

// A slip of the finger decides nothing.
Consent consent(const ReadAnswer& read, const ShowText& show, const char* prompt) {
  while (true) {
    const auto typed = read(prompt);
    if (!typed) return Consent::cancel;
    if (const auto choice = consent_of(trimmed(*typed))) return *choice;
    show("  it is a, d or c");
  }
}

// Only its first line stands where cellblock's own words do.
std::string question_text(std::string_view message) {
  std::string lines;
  while (!message.empty()) {
    const auto end = std::min(message.find('\n'), message.size());
    lines += (lines.empty() ? "" : "\n    ") + safe_line(message.substr(0, end));
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  return lines;
}

std::optional<Json> ask_field(const FormField& field, const ReadAnswer& read,
                              const ShowText& show) {
  while (true) {
    const auto typed = read("  " + field_prompt(field));
    if (!typed) return std::nullopt;
    auto value = field_value(field, *typed);
    if (value) return *std::move(value);
    show("  " + value.error().text);
  }
}

std::string fill_form(const Json& params, const ReadAnswer& read, const ShowText& show) {
  auto content = Json::object();
  for (const auto& field : form_fields(object_of(params, "requestedSchema"))) {
    auto value = ask_field(field, read, show);
    if (!value) return action("cancel");
    if (!value->is_null()) content[field.name] = *std::move(value);
  }
  return dumped(Json{{"action", "accept"}, {"content", std::move(content)}});
}

std::string elicit(const Json& params, const ReadAnswer& read, const ShowText& show) {
  const bool visit = params.value("mode", Json("form")) == Json("url");
  const auto message = params.value("message", Json(""));
  const auto text = message.is_string() ? question_text(message.get<std::string>()) : "";
  show("The server asks: " + text);
  if (visit) show(fmt::format("It wants you to visit {}", text_of(params, "url")));
  const auto* prompt = visit ? "  [a]ccept and open it yourself, [d]ecline, [c]ancel: "
                             : "  [a]nswer, [d]ecline, [c]ancel: ";
  switch (consent(read, show, prompt)) {
    case Consent::accept:
      return visit ? action("accept") : fill_form(params, read, show);
    case Consent::decline:
      return action("decline");
    case Consent::cancel:
      break;
  }
  return action("cancel");
}

}  // namespace

client::Result<std::string> answer_question(std::string_view method, std::string_view params,
                                            const ReadAnswer& read, const ShowText& show) {
  const auto json = Json::parse(params, nullptr, false);
  if (method == mcp::method::elicitation_create && json.is_object())
    return elicit(json, read, show);
  return std::unexpected(client::Error{.code = client::ErrorCode::rpc,
                                       .text = "Method not found",
                                       .rpc_code = mcp::method_not_found});
}

}  // namespace cellblock::cli
