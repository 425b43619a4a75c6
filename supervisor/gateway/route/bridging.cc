#include "supervisor/gateway/route/bridging.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/checks/session_access.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/translate/legacy_over_modern.h"
#include "supervisor/gateway/translate/modern_over_legacy.h"

namespace cellblock::gateway {
namespace {

constexpr std::size_t longest_error = 64U << 10;

}  // namespace

bool means_no_initialize(std::string_view error) {
  if (error.size() > longest_error) return false;
  const auto json = nlohmann::json::parse(error, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return false;
  const auto code = json.find("code");
  if (code == json.end() || !code->is_number_integer()) return false;
  return *code == mcp::method_not_found || *code == mcp::unsupported_version;
}

bool asks_users(const Server& server) {
  return std::ranges::any_of(server.rules, [](const Rule& rule) {
    return rule.effect == Effect::ask && rule.approver == Approver::user;
  });
}

namespace {

// What we ask the user about goes the way of a server's questions; those of the server itself the
// upstream still refuses.
BridgedServer bridged(const ServerRouteParts& parts) {
  const Server& server = parts.server();
  const bool is_alone = server.cells == CellSharing::per_session;
  BridgedServer bridged{
      .name = server.name,
      .features = is_alone ? permitted_features(server, parts.rights()) : ClientFeatures{}};
  bridged.features.elicitation |= asks_users(server);
  return bridged;
}

}  // namespace

std::unique_ptr<Bridge> make_bridge(const ServerRouteParts& parts, std::uint64_t cell, Era host,
                                    BridgeEffects& effects) {
  if (host == Era::legacy) {
    return std::make_unique<LegacyOverModern>(bridged(parts), effects);
  }
  const SealBinding binding{.purpose = SealPurpose::parked_call,
                            .server = parts.plan.server,
                            .session = parts.session,
                            .cell = cell};
  return std::make_unique<ModernOverLegacy>(bridged(parts), binding, parts.shared.sealer,
                                            parts.shared.ids, effects);
}

}  // namespace cellblock::gateway
