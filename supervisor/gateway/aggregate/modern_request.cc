#include "supervisor/gateway/aggregate/modern_request.h"

#include "policy/mcp/meta_keys.h"
#include "policy/mcp/revisions.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/reserved_meta.h"
#include "supervisor/gateway/message/revisions.h"

namespace cellblock::gateway {

std::string meta_of(std::string_view line, const Message& message) {
  Json params = parse_json(message.params.in(line));
  Json* meta = member(params, "_meta");
  if (meta == nullptr) return bare_meta();
  leave_out(*meta, {"progressToken", mcp::meta_key::subscription});
  return text_of(*meta);
}

std::string bare_meta() {
  return text_of({{mcp::meta_key::version, mcp::modern_revision},
                  {mcp::meta_key::capabilities, Json::object()}});
}

}  // namespace cellblock::gateway
