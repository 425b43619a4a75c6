#include "supervisor/gateway/checks/denial.h"

#include "policy/access/verdict_text.h"
#include "supervisor/gateway/message/failures.h"

namespace cellblock::gateway {

Failure denial(const AccessVerdict& verdict, const Server& server) {
  const bool asks = verdict.effect == Effect::ask;
  return plain_failure(asks ? FailureCode::approval_required : FailureCode::denied,
                       text_of(verdict), server.name);
}

std::string denied_reply(std::string_view id, AccessKind kind, Era era, const Failure& failure) {
  return kind == AccessKind::tool ? tool_error_reply(id, failure, era) : error_reply(id, failure);
}

}  // namespace cellblock::gateway
