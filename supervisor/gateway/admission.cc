#include "supervisor/gateway/admission.h"

#include <algorithm>

#include "supervisor/gateway/failures.h"
#include "supervisor/gateway/session_failures.h"

namespace cellblock::gateway {

const Server* find_server(const Config& config, const std::string& name) {
  const auto found = std::ranges::lower_bound(config.servers, name, {}, &Server::name);
  return found == config.servers.end() || found->name != name ? nullptr : &*found;
}

std::optional<Failure> refuse_use(const Config& config, const Identified& who,
                                  const std::string& server) {
  const Server* found = find_server(config, server);
  if (found == nullptr || !may_use_server(found->allow, who).allowed) {
    return not_allowlisted(server);
  }
  return std::nullopt;
}

std::optional<Failure> refuse_attach(const Config& config, const Identified& who,
                                     const std::string& server, AuditState audit) {
  if (!config.enabled) {
    return plain_failure(FailureCode::disabled, "cellblock is switched off", server);
  }
  if (auto failure = refuse_use(config, who, server)) return failure;
  if (audit == AuditState::broken) {
    return plain_failure(FailureCode::audit_unavailable,
                         "the audit log cannot be written, so nothing new is started", server);
  }
  return std::nullopt;
}

}  // namespace cellblock::gateway
