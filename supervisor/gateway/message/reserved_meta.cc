#include "supervisor/gateway/message/reserved_meta.h"

#include "policy/mcp/meta_keys.h"
#include "policy/mcp/revisions.h"

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

}  // namespace cellblock::gateway
