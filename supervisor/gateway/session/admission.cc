#include "supervisor/gateway/session/admission.h"

#include <algorithm>

#include "policy/config/server_list.h"
#include "policy/rates/rate_text.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {

const Server* find_server(const Config& config, const std::string& name) {
  const auto found = server_index(config, name);
  return found ? &config.servers[*found] : nullptr;
}

bool is_still_admin(const Config& config, std::uint32_t uid) {
  return config.mode == RunMode::user || uid == 0 || std::ranges::binary_search(config.admins, uid);
}

std::optional<Failure> refuse_use(const Config& config, const SessionAccess& access,
                                  const std::string& server) {
  const Server* found = find_server(config, server);
  const bool may_use =
      found != nullptr &&
      access.servers().contains(static_cast<std::size_t>(found - config.servers.data()));
  if (!may_use) return not_allowlisted(server);
  if (found->enabled && found->breakage.is_broken()) return left_out(*found);
  if (found->enabled) return std::nullopt;
  return plain_failure(
      FailureCode::disabled,
      "server \"" + server + "\" is switched off by its declaration (enabled = false)", server);
}

std::optional<Failure> refuse_any(const Config& config, AuditState audit) {
  if (!config.enabled) {
    return plain_failure(FailureCode::disabled, "cellblock is switched off");
  }
  if (audit == AuditState::broken) {
    return plain_failure(FailureCode::audit_unavailable,
                         "the audit log cannot be written, so nothing new is started");
  }
  return std::nullopt;
}

std::optional<Failure> refuse_over_share(CallSlots& places, Time now) {
  const auto busy = places.out_of_log(now);
  if (!busy) return std::nullopt;
  Failure failure = plain_failure(FailureCode::rate_limited, busy_text(*busy, {}, {}));
  failure.retry_after = busy->retry_after;
  return failure;
}

// Checks in this order: switched off, unknown server, no audit log. Faults of the installation come
// before faults of the request, and neither reveals other users' rights.
std::optional<Failure> refuse_attach(const Config& config, const SessionAccess& access,
                                     const std::string& server, AuditState audit) {
  auto failure = refuse_any(config, AuditState::writable);
  if (!failure) failure = refuse_use(config, access, server);
  if (!failure) failure = refuse_any(config, audit);
  if (failure) failure->server = server;
  return failure;
}

}  // namespace cellblock::gateway
