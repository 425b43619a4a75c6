#include "supervisor/gateway/translate/legacy_results.h"

#include <fmt/format.h>

#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/request_meta.h"
#include "supervisor/gateway/message/revisions.h"

namespace cellblock::gateway {

namespace {

// A line twice as long as the server's could be more than a host's buffer holds.
constexpr std::size_t most_text = 1U << 20;

std::int64_t code_of(const Json& error) {
  const Json* code = member(error, "code");
  return code != nullptr && code->is_number_integer() ? code->get<std::int64_t>() : 0;
}

// "#/$defs/x" was said from the schema's root, which now lies two steps down. Depth is bounded by
// the scanner.
void move_references(Json& schema) {
  if (schema.is_array()) {
    for (Json& element : schema) move_references(element);
  }
  if (!schema.is_object()) return;
  for (auto& [key, value] : schema.items()) {
    const bool is_reference = key == "$ref" || key == "$dynamicRef";
    if (is_reference && value.is_string()) {
      const auto target = value.get<std::string>();
      if (target == "#") value = "#/properties/result";
      if (target.starts_with("#/")) value = "#/properties/result" + target.substr(1);
    } else {
      move_references(value);
    }
  }
}

Json wrapped_schema(Json schema) {
  move_references(schema);
  return {{"type", "object"},
          {"properties", {{"result", std::move(schema)}}},
          {"required", Json::array({"result"})}};
}

bool has_text(const Json& content) {
  if (!content.is_array()) return false;
  for (const Json& block : content) {
    if (string_in(block, "type") == "text") return true;
  }
  return false;
}

Json text_block(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

std::string text_of_link(const Json& block) {
  const std::string title = string_in(block, "title");
  const std::string name = title.empty() ? string_in(block, "name") : title;
  const std::string description = string_in(block, "description");
  return fmt::format("{}{}{}{}{}", name, name.empty() ? "" : ": ", string_in(block, "uri"),
                     description.empty() ? "" : " - ", description);
}

bool knows(std::string_view version, std::string_view type) {
  if (type == "text" || type == "image" || type == "resource") return true;
  if (type == "audio") return version >= mcp::first_with_audio;
  return type == "resource_link" && version >= mcp::first_with_links;
}

void downgrade_block(Json& block, std::string_view version) {
  const std::string type = string_in(block, "type");
  if (!block.is_object() || knows(version, type)) return;
  if (type == "resource_link") {
    block = text_block(text_of_link(block));
  } else if (type == "audio") {
    block = text_block(
        fmt::format("[audio, {}: not part of MCP {}]", string_in(block, "mimeType"), version));
  } else {
    block = text_block(fmt::format("[content of type {}: not part of MCP {}]", type, version));
  }
}

}  // namespace

void WrappedTools::see_list(Json& result) {
  Json* tools = member(result, "tools");
  if (tools == nullptr || !tools->is_array()) return;
  for (Json& tool : *tools) {
    Json* schema = member(tool, "outputSchema");
    const std::string name = string_in(tool, "name");
    if (schema == nullptr || string_in(*schema, "type") == "object") {
      tools_.erase(name);
    } else {
      *schema = wrapped_schema(std::move(*schema));
      if (tools_.size() < max_tools) tools_.insert(name);
    }
  }
}

void strip_modern_members(Json& result) {
  leave_out(result, {"resultType", "ttlMs", "cacheScope", "requestState", "inputRequests"});
  strip_reserved_meta(result);
}

void wrap_structured_content(Json& result, const std::string& tool, const WrappedTools& wrapped) {
  Json* structured = member(result, "structuredContent");
  if (structured == nullptr || (structured->is_object() && !wrapped.has(tool))) return;
  Json& content = result["content"];
  if (!content.is_array()) content = Json::array();
  // Found anew: the lines above may have moved it.
  Json& value = result["structuredContent"];
  std::string text = has_text(content) ? std::string{} : text_of(value);
  if (!text.empty() && text.size() <= most_text) content.push_back(text_block(std::move(text)));
  value = Json{{"result", std::move(value)}};
}

void downgrade_content(std::string_view method, Json& result, std::string_view version) {
  if (method == mcp::method::tools_call) {
    Json* content = member(result, "content");
    if (content == nullptr || !content->is_array()) return;
    for (Json& block : *content) downgrade_block(block, version);
  }
  if (method == mcp::method::prompts_get) {
    Json* messages = member(result, "messages");
    if (messages == nullptr || !messages->is_array()) return;
    for (Json& message : *messages) {
      if (Json* content = member(message, "content")) downgrade_block(*content, version);
    }
  }
}

bool is_modern_only(const Json& error) {
  const auto code = code_of(error);
  return code >= mcp::first_reserved && code <= mcp::last_reserved;
}

Json legacy_error(std::string_view method, Json error, std::string_view uri) {
  if (is_modern_only(error)) {
    error["code"] = mcp::internal_error;
  } else if (method == mcp::method::resources_read && code_of(error) == mcp::invalid_params) {
    const Json* data = object_in(error, "data");
    if (data != nullptr && !uri.empty() && string_in(*data, "uri") == uri) {
      error["code"] = mcp::legacy_not_found;
    }
  }
  return error;
}

}  // namespace cellblock::gateway
