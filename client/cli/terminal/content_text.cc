#include "client/cli/terminal/content_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string text_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// What stands beside cellblock's own words must not begin a line of its own.
std::string line_member(const Json& object, const char* name) {
  return safe_line(text_member(object, name));
}

std::string embedded_text(const Json& block) {
  const auto resource = block.find("resource");
  if (resource == block.end() || !resource->is_object()) return "[resource]";
  const auto text = text_member(*resource, "text");
  return fmt::format("[resource {}]{}{}", line_member(*resource, "uri"), text.empty() ? "" : "\n",
                     text);
}

std::string block_text(const Json& block) {
  if (!block.is_object()) return "[not a content block]";
  const auto type = text_member(block, "type");
  if (type == "text") return text_member(block, "text");
  if (type == "resource") return embedded_text(block);
  if (type == "resource_link") return fmt::format("[resource {}]", line_member(block, "uri"));
  return fmt::format("[{} {}, {} bytes of base64]", safe_line(type), line_member(block, "mimeType"),
                     text_member(block, "data").size());
}

}  // namespace

std::string content_text(std::string_view result_json) {
  const auto json = Json::parse(result_json, nullptr, false);
  if (!json.is_object()) return {};
  std::string text;
  if (const auto content = json.find("content"); content != json.end() && content->is_array()) {
    for (const auto& block : *content) text += (text.empty() ? "" : "\n") + block_text(block);
  }
  if (text.empty() && json.contains("structuredContent")) return json["structuredContent"].dump(2);
  return text;
}

}  // namespace cellblock::cli
