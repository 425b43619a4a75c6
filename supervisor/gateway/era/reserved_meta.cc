#include "supervisor/gateway/era/reserved_meta.h"

#include <fmt/format.h>

#include "policy/mcp/error_codes.h"
#include "policy/mcp/meta_keys.h"
#include "policy/mcp/revisions.h"
#include "supervisor/gateway/era/revisions.h"
#include "supervisor/gateway/message/replies.h"

namespace cellblock::gateway {

namespace {

Json bad_envelope(const char* key, std::string_view problem) {
  Json error = error_of(mcp::invalid_params,
                        fmt::format("Invalid _meta envelope for protocol revision {}: {}: {}",
                                    mcp::modern_revision, key, problem));
  error["data"] = {{"envelope", {{"key", key}, {"problem", problem}}}};
  return error;
}

Json wrong_version(const std::string& asked) {
  Json error = error_of(mcp::unsupported_version, "Unsupported protocol version: " + asked);
  error["data"] = {{"supported", Json::array({mcp::modern_revision})}, {"requested", asked}};
  return error;
}

}  // namespace

Json own_client_info() { return {{"name", "cellblock"}, {"version", CELLBLOCK_VERSION}}; }

void strip_reserved_meta(Json& holder) {
  Json* meta = member(holder, "_meta");
  if (meta == nullptr) return;
  leave_out(*meta, {mcp::meta_key::version, mcp::meta_key::capabilities, mcp::meta_key::client,
                    mcp::meta_key::log_level, mcp::meta_key::server, mcp::meta_key::subscription,
                    mcp::meta_key::related_task});
  if (meta->empty()) holder.erase("_meta");
}

Json envelope_error(const Json& params) {
  const Json* meta = object_in(params, "_meta");
  const Json* version = meta == nullptr ? nullptr : member(*meta, mcp::meta_key::version);
  if (version == nullptr) return bad_envelope(mcp::meta_key::version, "missing");
  if (!version->is_string()) return bad_envelope(mcp::meta_key::version, "not a string");
  if (*version != mcp::modern_revision) return wrong_version(version->get<std::string>());
  const Json* capabilities = member(*meta, mcp::meta_key::capabilities);
  if (capabilities == nullptr) return bad_envelope(mcp::meta_key::capabilities, "missing");
  if (!capabilities->is_object()) return bad_envelope(mcp::meta_key::capabilities, "not an object");
  return {};
}

void stamp_request(Json& params, const Json& client_capabilities, const std::string& log_level) {
  if (!params.is_object()) params = Json::object();
  strip_reserved_meta(params);
  Json& meta = object_at(params, "_meta");
  meta[mcp::meta_key::version] = mcp::modern_revision;
  meta[mcp::meta_key::client] = own_client_info();
  meta[mcp::meta_key::capabilities] = client_capabilities;
  if (!log_level.empty()) meta[mcp::meta_key::log_level] = log_level;
}

}  // namespace cellblock::gateway
