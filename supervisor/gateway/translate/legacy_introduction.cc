#include "supervisor/gateway/translate/legacy_introduction.h"

#include <algorithm>
#include <utility>

#include "policy/mcp/error_codes.h"
#include "policy/mcp/meta_keys.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/revisions.h"
#include "supervisor/gateway/message/capabilities.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/reserved_meta.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/translate/legacy_results.h"

namespace cellblock::gateway {

namespace {

bool speaks_modern(const Json& discovered) {
  const Json* versions = member(discovered, "supportedVersions");
  return versions != nullptr && versions->is_array() &&
         std::ranges::find(*versions, Json(mcp::modern_revision)) != versions->end();
}

// Both members are required of a legacy serverInfo.
Json server_info_of(const Json& discovered, const std::string& name) {
  const Json* meta = object_in(discovered, "_meta");
  const Json* said = meta == nullptr ? nullptr : object_in(*meta, mcp::meta_key::server);
  Json info = said == nullptr ? Json::object() : *said;
  if (string_in(info, "name").empty()) info["name"] = name.empty() ? "cellblock" : name;
  if (string_in(info, "version").empty()) info["version"] = "unknown";
  return info;
}

}  // namespace

LegacyIntroduction::LegacyIntroduction(const BridgedServer& server, BridgeIds& ids, Outbox& out)
    : server_(server), ids_(ids), out_(out), version_(mcp::newest_legacy) {}

void LegacyIntroduction::begin(std::string_view host_id, const Json& params) {
  if (is_under_way()) {
    return out_.to_host(
        protocol_error(host_id, mcp::invalid_request, "another initialize is still in flight"));
  }
  const Json* said = member(params, "capabilities");
  client_capabilities_ =
      carried_client_capabilities(said == nullptr ? Json() : *said, server_.features);
  version_ = answer_to_version(string_in(params, "protocolVersion"));
  host_id_ = host_id;
  ours_ = ids_.next();
  Json discover = Json::object();
  stamp_request(discover, client_capabilities_, "");
  out_.to_server(request_text(ours_, mcp::method::discover, discover));
}

bool LegacyIntroduction::answered(std::uint64_t ours, const AnswerBody& body) {
  if (ours == 0 || ours != ours_) return false;
  ours_ = 0;
  if (!body.worked()) {
    out_.to_host(error_text(host_id_, legacy_error(mcp::method::initialize, body.json, {})));
  } else if (!speaks_modern(body.json)) {
    out_.to_host(protocol_error(host_id_, mcp::internal_error,
                                "the server speaks no revision that is known"));
  } else {
    const Json* said = object_in(body.json, "capabilities");
    server_capabilities_ = carried_server_capabilities(said == nullptr ? Json::object() : *said);
    Json result{{"protocolVersion", version_},
                {"capabilities", server_capabilities_},
                {"serverInfo", server_info_of(body.json, server_.name)}};
    const std::string instructions = string_in(body.json, "instructions");
    if (!instructions.empty()) result["instructions"] = instructions;
    out_.to_host(result_text(host_id_, result));
  }
  return true;
}

void LegacyIntroduction::fail(const Failure& failure) {
  if (std::exchange(ours_, 0) != 0) out_.to_host(error_reply(host_id_, failure));
}

}  // namespace cellblock::gateway
