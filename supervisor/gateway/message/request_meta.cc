#include "supervisor/gateway/message/request_meta.h"

#include <fmt/format.h>

#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::gateway {

Json own_client_info() { return {{"name", "cellblock"}, {"version", CELLBLOCK_VERSION}}; }

void strip_reserved_meta(Json& holder) {
  Json* meta = member(holder, "_meta");
  if (meta == nullptr) return;
  leave_out(*meta, {mcp::meta_key::version, mcp::meta_key::capabilities, mcp::meta_key::client,
                    mcp::meta_key::log_level, mcp::meta_key::server, mcp::meta_key::subscription,
                    mcp::meta_key::related_task});
  if (meta->empty()) holder.erase("_meta");
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

void name_the_asker(std::string_view method, Json& params, std::string_view server) {
  if (server.empty() || method != mcp::method::elicitation_create || !params.is_object()) return;
  const std::string prefix = fmt::format("[server {}] ", server);
  const std::string message = string_in(params, "message");
  if (!message.starts_with(prefix)) params["message"] = prefix + message;
}

Json modern_question(std::string_view method, Json params, std::string_view server) {
  // The progress token in _meta would have no request to belong to.
  leave_out(params, {"_meta", "elicitationId", "task"});
  name_the_asker(method, params, server);
  Json question{{"method", method}};
  if (params.is_object()) question["params"] = std::move(params);
  return question;
}

Json legacy_question(std::string_view method, Json params, std::string_view server,
                     std::string_view elicitation_id) {
  strip_reserved_meta(params);
  name_the_asker(method, params, server);
  if (string_in(params, "mode") == "url") params["elicitationId"] = elicitation_id;
  return params;
}

}  // namespace cellblock::gateway
