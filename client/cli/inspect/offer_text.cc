#include "client/cli/inspect/offer_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/cli/inspect/schema_text.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/mcp/meta_keys.h"

namespace cellblock::cli {
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
