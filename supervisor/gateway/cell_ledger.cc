#include "supervisor/gateway/cell_ledger.h"

#include <utility>

#include "policy/denial_text.h"

namespace cellblock::gateway {

namespace {

using wire::AuditKind;
using wire::AuditOutcome;

constexpr std::string_view summed_up = "summed_up";

}  // namespace

CellLedger::CellLedger(AuditOrigin origin, const Server& server, ServerLedger& books, Record record)
    : origin_(origin), server_(server), books_(books), record_(std::move(record)) {}

void CellLedger::denied(const wire::Denial& denial, std::int64_t now_ms) {
  const DeniedCall call{
      .number = denial.syscall_number, .error = denial.error, .words = denial.words};
  DenialText text = describe(call, server_.syscalls, server_.network);
  const std::uint64_t count = denial.count == 0 ? 1 : denial.count;
  if (const std::uint64_t stands_for = denials_.spend(count, now_ms)) {
    record_(audit_record(origin_, {.kind = AuditKind::denied,
                                   .outcome = AuditOutcome::denied,
                                   .tool = text.call,
                                   .reason = stands_for == count ? "system_call" : summed_up,
                                   .bytes = stands_for}));
  }
  books_.denied.add({.cell = origin_.cell,
                     .at_ms = now_ms,
                     .what = std::move(text.call),
                     .reason = std::move(text.reason),
                     .allow = std::move(text.remedy),
                     .count = count});
}

void CellLedger::egress(const wire::EgressEvent& event, std::int64_t now_ms) {
  books_.egress.add(event);
  if (auto denied = denied_by(event, origin_.cell, now_ms)) books_.denied.add(*std::move(denied));
  if (connections_.spend(event.count, now_ms) == 0) return;
  record_(audit_record(
      origin_, {.kind = AuditKind::egress,
                .outcome = is_refusal(event) ? AuditOutcome::denied : AuditOutcome::ok,
                .tool = target_of(event),
                .reason = is_refusal(event) ? name_of(event.reason) : kind_name_of(event.kind),
                .bytes = event.sent + event.received}));
}

void CellLedger::finish() {
  for (const auto& [kind, budget] :
       {std::pair{AuditKind::denied, &denials_}, std::pair{AuditKind::egress, &connections_}}) {
    if (budget->rest() == 0) continue;
    record_(audit_record(origin_, {.kind = kind, .reason = summed_up, .bytes = budget->rest()}));
  }
}

}  // namespace cellblock::gateway
