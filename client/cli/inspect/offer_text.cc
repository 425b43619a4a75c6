#include "client/cli/inspect/offer_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/mcp/protocol_words.h"

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

namespace {

std::string called(ListKind kind, const Json& item) {
  return text_of(item, std::string(facts_of(kind).key).c_str());
}

// A resource is told apart by its name, all else by what is said about it.
std::string about(ListKind kind, const Json& item) {
  const bool named = kind == ListKind::resources || kind == ListKind::templates;
  auto text = raw_text(item, named ? "name" : "description");
  if (text.empty()) text = raw_text(item, "title");
  return safe_line(text.substr(0, text.find('\n')));
}

std::string indented(std::string_view text, std::size_t indent) {
  std::string lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines += fmt::format("{:{}}{}\n", "", indent, safe_line(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string section(std::string_view title, const std::string& lines) {
  return lines.empty() ? "" : fmt::format("{}:\n{}", title, lines);
}

std::string hints_text(const Json& item) {
  std::string text;
  const auto annotations = object_of(item, "annotations");
  for (const auto& [name, value] : annotations.items()) {
    text += fmt::format("  {}: {}\n", safe_line(name), safe_line(value.dump()));
  }
  return text;
}

std::string arguments_of_prompt(const Json& item) {
  std::string text;
  for (const auto& argument : objects_of(item, "arguments")) {
    const bool required = argument.value("required", Json(false)) == Json(true);
    text += fmt::format("  {}{}\n", text_of(argument, "name"), required ? ", required" : "");
    text += indented(raw_text(argument, "description"), 6);
  }
  return text;
}

std::string member_line(const Json& item, const char* name) {
  const auto text = text_of(item, name);
  return text.empty() ? "" : fmt::format("{}: {}\n", name, text);
}

std::string schema_section(const char* title, const Json& item, const char* name) {
  return item.contains(name) ? section(title, schema_text(item[name], 2)) : "";
}

std::string capability_text(const std::string& name, const Json& value) {
  std::string inner;
  if (value.is_object()) {
    for (const auto& [key, one] : value.items()) {
      inner += (inner.empty() ? "" : ", ") + safe_line(key);
      if (!one.is_object() || !one.empty()) inner += " " + safe_line(one.dump());
    }
  }
  return fmt::format("  {}{}{}\n", safe_line(name), inner.empty() ? "" : ": ", inner);
}

// In the modern era who answers says so in every `_meta`.
Json server_info(const Json& introduction) {
  const auto own = object_of(introduction, "serverInfo");
  return own.empty() ? object_of(object_of(introduction, "_meta"), mcp::meta_key::server) : own;
}

}  // namespace

std::string list_text(ListKind kind, const std::vector<Json>& items, std::size_t room) {
  // A resource with a long address does not push all others aside.
  constexpr std::size_t widest = 48;
  std::size_t width = 0;
  for (const auto& item : items) width = std::max(width, called(kind, item).size());
  std::string text;
  for (const auto& item : items) {
    const auto line =
        fmt::format("{:<{}}  {}", called(kind, item), std::min(width, widest), about(kind, item));
    text += cut_to(line, room) + '\n';
  }
  return text;
}

std::string describe_text(ListKind kind, const Json& item) {
  auto text = called(kind, item) + "\n";
  if (facts_of(kind).key != "name") text += member_line(item, "name");
  text += member_line(item, "title") + member_line(item, "mimeType");
  text += indented(raw_text(item, "description"), 2);
  text += schema_section("arguments", item, "inputSchema");
  text += schema_section("answers with", item, "outputSchema");
  text += section("arguments", arguments_of_prompt(item));
  text += section("annotations", hints_text(item));
  return text;
}

std::string introduction_text(const Json& introduction) {
  const auto server = server_info(introduction);
  auto text = fmt::format("{} {}\n", text_of(server, "name"), text_of(server, "version"));
  text += member_line(server, "title") + member_line(introduction, "protocolVersion");
  const auto versions = texts_of(introduction, "supportedVersions");
  if (!versions.empty()) text += fmt::format("versions: {}\n", fmt::join(versions, ", "));
  std::string lines;
  const auto capabilities = object_of(introduction, "capabilities");
  for (const auto& [name, value] : capabilities.items()) {
    lines += capability_text(name, value);
  }
  text += section("capabilities", lines);
  text += section("instructions", indented(raw_text(introduction, "instructions"), 2));
  return text;
}

}  // namespace cellblock::cli
