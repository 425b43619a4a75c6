#include "supervisor/gateway/aggregate/modern_request.h"

#include "supervisor/gateway/aggregate/json_text.h"
#include "supervisor/gateway/replies.h"

namespace cellblock::gateway {
namespace {

constexpr int unsupported_version = -32022;
constexpr const char* version_key = "io.modelcontextprotocol/protocolVersion";
constexpr const char* capabilities_key = "io.modelcontextprotocol/clientCapabilities";

std::string missing(std::string_view id, std::string_view key) {
  return protocol_error(
      id, invalid_params,
      "Invalid _meta for protocol revision 2026-07-28: " + std::string(key) + ": missing");
}

std::string unsupported(std::string_view id, const std::string& requested) {
  const Json error = {
      {"code", unsupported_version},
      {"message", "Unsupported protocol version: " + requested},
      {"data", {{"supported", Json::array({modern_version})}, {"requested", requested}}}};
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":)" + text_of(error) + "}";
}

}  // namespace

std::optional<std::string> refuse_envelope(std::string_view line, const Message& message) {
  const std::string_view id = message.id.in(line);
  if (!message.is_modern()) return missing(id, version_key);
  const std::string version = string_in(message.protocol_version.in(line));
  if (version != modern_version) return unsupported(id, version);
  if (message.client_capabilities.empty()) return missing(id, capabilities_key);
  return std::nullopt;
}

std::string meta_of(std::string_view line, const Message& message) {
  const Json params = parsed(message.params.in(line));
  const Json* meta = member(params, "_meta");
  if (meta == nullptr) return bare_meta();
  Json own = *meta;
  own.erase("progressToken");
  own.erase("io.modelcontextprotocol/subscriptionId");
  return text_of(own);
}

std::string bare_meta() {
  return text_of({{version_key, modern_version}, {capabilities_key, Json::object()}});
}

}  // namespace cellblock::gateway
