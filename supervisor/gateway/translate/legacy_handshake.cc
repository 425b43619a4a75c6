#include "supervisor/gateway/translate/legacy_handshake.h"

#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/revisions.h"
#include "supervisor/gateway/message/reserved_meta.h"
#include "supervisor/gateway/message/revisions.h"

namespace cellblock::gateway {

namespace {

// Of a server's own sentence, in ours.
constexpr std::size_t longest_quoted_refusal = 200;

}  // namespace

void LegacyHandshake::begin(Json client_capabilities) {
  client_capabilities_ = std::move(client_capabilities);
  ask(mcp::newest_legacy);
}

void LegacyHandshake::ask(std::string_view version) {
  state_ = State::asked;
  asked_version_ = version;
  ours_ = ids_.next();
  out_.to_server(request_text(ours_, mcp::method::initialize,
                              {{"protocolVersion", version},
                               {"capabilities", client_capabilities_},
                               {"clientInfo", own_client_info()}}));
}

LegacyHandshake::Step LegacyHandshake::answered(std::uint64_t ours, MessageKind kind,
                                                const Json& answer) {
  if (state_ != State::asked || ours != ours_) return Step::not_mine;
  if (kind == MessageKind::error) return refused(answer);
  const std::string version = string_in(answer, "protocolVersion");
  if (!mcp::is_legacy_revision(version)) {
    return fail("the server answered initialize with a protocol version that is not known: " +
                version.substr(0, longest_quoted_refusal));
  }
  if (const Json* capabilities = object_in(answer, "capabilities")) capabilities_ = *capabilities;
  if (const Json* info = object_in(answer, "serverInfo")) server_info_ = *info;
  instructions_ = string_in(answer, "instructions");
  state_ = State::done;
  out_.to_server(notification_text(mcp::notification::initialized, {}));
  return Step::done;
}

// A server may name what it speaks instead of choosing (-32602 with data.supported).
LegacyHandshake::Step LegacyHandshake::refused(const Json& error) {
  const auto supported = legacy_among_supported(error);
  if (supported && *supported < asked_version_) {
    ask(*supported);
    return Step::going_on;
  }
  return fail("the server refused initialize: " +
              string_in(error, "message").substr(0, longest_quoted_refusal));
}

LegacyHandshake::Step LegacyHandshake::fail(std::string why) {
  refusal_ = std::move(why);
  forget();
  return Step::failed;
}

void LegacyHandshake::forget() {
  state_ = State::none;
  ours_ = 0;
  capabilities_ = server_info_ = Json::object();
  instructions_.clear();
}

}  // namespace cellblock::gateway
