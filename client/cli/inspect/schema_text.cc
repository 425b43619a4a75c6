#include "client/cli/inspect/schema_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

constexpr unsigned deepest = 8;

std::string value_text(const Json& value) { return safe_line(dumped(value)); }

std::string joined(const Json& values, std::string (*text)(const Json&)) {
  std::vector<std::string> texts;
  for (const auto& value : values) texts.push_back(text(value));
  return fmt::format("{}", fmt::join(texts, ", "));
}

bool has_list(const Json& schema, const char* name) {
  return schema.contains(name) && schema[name].is_array() && !schema[name].empty();
}

std::string type_at(const Json& schema, unsigned depth);

std::string alternatives(const Json& schema, const char* name, unsigned depth) {
  std::vector<std::string> texts;
  for (const auto& one : schema[name]) texts.push_back(type_at(one, depth + 1));
  return fmt::format("{}", fmt::join(texts, " or "));
}

std::string named_type(const Json& schema, unsigned depth) {
  const auto type = schema.value("type", Json());
  if (type == "array") {
    const auto items = object_of(schema, "items");
    return items.empty() ? "list" : fmt::format("list of {}", type_at(items, depth + 1));
  }
  auto text = type.is_array() ? fmt::format("{}", fmt::join(texts_of(schema, "type"), " or "))
                              : text_of(schema, "type");
  const auto format = text_of(schema, "format");
  return format.empty() ? text : fmt::format("{} ({})", text, format);
}

std::string type_at(const Json& schema, unsigned depth) {
  if (!schema.is_object()) return schema == Json(false) ? "nothing" : "anything";
  if (depth > deepest) return "…";
  if (schema.contains("const")) return value_text(schema["const"]);
  if (has_list(schema, "enum")) return fmt::format("one of {}", joined(schema["enum"], value_text));
  if (has_list(schema, "anyOf")) return alternatives(schema, "anyOf", depth);
  if (has_list(schema, "oneOf")) return alternatives(schema, "oneOf", depth);
  if (schema.contains("$ref")) return fmt::format("see {}", text_of(schema, "$ref"));
  auto text = named_type(schema, depth);
  return text.empty() ? "anything" : text;
}

// "1..10", "at least 3": JSON Schema's bounds of numbers, texts and lists.
std::string bounds_text(const Json& schema) {
  struct Bound {
    const char* name;
    const char* words;
  };
  constexpr std::array bounds = {Bound{"minimum", ">= "},          Bound{"exclusiveMinimum", "> "},
                                 Bound{"maximum", "<= "},          Bound{"exclusiveMaximum", "< "},
                                 Bound{"minLength", "length >= "}, Bound{"maxLength", "length <= "},
                                 Bound{"minItems", "items >= "},   Bound{"maxItems", "items <= "},
                                 Bound{"pattern", "matches "}};
  std::string text;
  for (const auto& [name, words] : bounds) {
    if (schema.contains(name)) text += fmt::format(", {}{}", words, value_text(schema[name]));
  }
  if (schema.contains("default")) text += ", default " + value_text(schema["default"]);
  return text;
}

bool is_required(const Json& schema, const std::string& name) {
  return has_list(schema, "required") &&
         std::ranges::find(schema["required"], Json(name)) != schema["required"].end();
}

std::string indented(std::size_t indent, const std::string& text) {
  return text.empty() ? "" : fmt::format("{:{}}{}\n", "", indent, text);
}

std::string properties_at(const Json& schema, std::size_t indent, unsigned depth);

std::string inside(const Json& property, std::size_t indent, unsigned depth) {
  const auto items = object_of(property, "items");
  return properties_at(items.contains("properties") ? items : property, indent, depth + 1);
}

std::string properties_at(const Json& schema, std::size_t indent, unsigned depth) {
  std::string text;
  if (depth > deepest) return indented(indent, "…");
  const auto properties = object_of(schema, "properties");
  for (const auto& [name, property] : properties.items()) {
    text += indented(indent, fmt::format("{}: {}{}{}", safe_line(name), type_at(property, 0),
                                         is_required(schema, name) ? ", required" : "",
                                         property.is_object() ? bounds_text(property) : ""));
    if (!property.is_object()) continue;
    text += indented(indent + 4, text_of(property, "description"));
    text += inside(property, indent + 4, depth);
  }
  return text;
}

}  // namespace

std::string type_text(const Json& schema) { return type_at(schema, 0); }

std::string schema_text(const Json& schema, std::size_t indent) {
  auto text = properties_at(schema, indent, 0);
  if (!text.empty()) return text;
  const bool empty_object = schema.is_object() && schema.value("type", Json()) == "object";
  return indented(indent, empty_object ? "nothing in particular" : type_at(schema, 0));
}

}  // namespace cellblock::cli
