#include "supervisor/gateway/route/modern_request_check.h"

#include <fmt/format.h>

#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/request_meta.h"
#include "supervisor/gateway/message/revisions.h"

namespace cellblock::gateway {

namespace {

constexpr std::size_t longest_version = 64;

// Nearly always it is written plainly, and then nothing needs to be read again.
bool is_modern_revision(std::string_view raw) {
  return raw.size() == mcp::modern_revision.size() + 2 && raw.starts_with('"') &&
         raw.substr(1).starts_with(mcp::modern_revision) && raw.ends_with('"');
}

std::string missing(std::string_view id, std::string_view key) {
  Json error =
      error_of(mcp::invalid_params, fmt::format("Invalid _meta: {} is missing or of the wrong "
                                                "type",
                                                key));
  error["data"]["key"] = key;
  return error_text(id, error);
}

std::string unsupported(std::string_view id, const std::string& version) {
  const std::string shown = version.substr(0, longest_version);
  Json error = error_of(mcp::unsupported_version, "Unsupported protocol version: " + shown);
  error["data"]["supported"] = Json::array({mcp::modern_revision});
  error["data"]["requested"] = shown;
  return error_text(id, error);
}

}  // namespace

std::optional<std::string> refuse_modern(std::string_view line, const Message& message) {
  if (is_modern_revision(message.protocol_version.in(line)) &&
      !message.client_capabilities.empty()) {
    return std::nullopt;
  }
  const std::string_view id = message.id.in(line);
  if (!message.is_modern()) return missing(id, mcp::meta_key::version);
  const Json version = parse_json(message.protocol_version.in(line));
  if (!version.is_string()) return missing(id, mcp::meta_key::version);
  const auto& text = version.get_ref<const std::string&>();
  if (text != mcp::modern_revision) return unsupported(id, text);
  if (message.client_capabilities.empty()) return missing(id, mcp::meta_key::capabilities);
  return std::nullopt;
}

}  // namespace cellblock::gateway
