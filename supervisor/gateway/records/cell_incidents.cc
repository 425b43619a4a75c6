#include "supervisor/gateway/records/cell_incidents.h"

#include <utility>

#include "policy/egress/egress_policy.h"
#include "policy/syscalls/denial_text.h"
#include "supervisor/gateway/records/audit_limiter.h"

namespace cellblock::gateway {

namespace {

using wire::AuditKind;
using wire::AuditOutcome;

// The end of a name says whose it is; its beginning is up to whoever asks.
std::string with_its_end(const std::string& target, std::size_t most) {
  if (target.size() <= most) return target;
  constexpr std::string_view cut = "...";
  return std::string(cut) + target.substr(target.size() - (most - cut.size()));
}

bool spend(AuditBudget& of_cell, AuditBudget& of_user, Time now) {
  return of_user.has_room(now) && of_cell.spend(now) && of_user.spend(now);
}

}  // namespace

CellIncidents::CellIncidents(AuditOrigin origin, const Server& server, ServerIncidents& books,
                             IncidentBudgets& user, Record record)
    : origin_(origin), server_(server), books_(books), user_(user), record_(std::move(record)) {}

void CellIncidents::denied(const wire::Denial& denial, Moment now) {
  const DeniedCall call{
      .number = denial.syscall_number, .error = denial.error, .words = denial.words};
  DenialText text = describe(call, server_.syscalls, server_.network);
  const std::uint64_t count = denial.count == 0 ? 1 : denial.count;
  if (spend(denials_, user_.denials, now.time)) {
    sum_up(AuditKind::denied, held_denials_);
    record_(audit_record(origin_, {.kind = AuditKind::denied,
                                   .outcome = AuditOutcome::denied,
                                   .tool = text.call,
                                   .reason = "system_call",
                                   .count = count}));
  } else {
    held_denials_.count += count;
  }
  books_.denied.add({.cell = origin_.cell,
                     .at_ms = now.unix_ms,
                     .what = std::move(text.call),
                     .reason = std::move(text.reason),
                     .allow = std::move(text.remedy),
                     .no_remedy = text.is_harmless ? NoRemedy::harmless : NoRemedy::none_known,
                     .count = count});
}

void CellIncidents::egress(const wire::EgressEvent& event, Moment now) {
  books_.egress.add(event);
  if (auto denied = denied_by(event, origin_.cell, now.unix_ms, server_.network)) {
    books_.denied.add(*std::move(denied));
  }
  const std::string target = target_of(event);
  const std::uint64_t bytes = event.sent + event.received;
  const bool is_new = is_first_sight(event, target);
  const bool within_budget = spend(connections_, user_.connections, now.time);
  if (within_budget) sum_up(AuditKind::egress, held_connections_);
  if (!within_budget && !(is_new && user_.targets.spend(now.time))) {
    held_connections_.count += event.count;
    held_connections_.bytes += bytes;
    return;
  }
  record_(audit_record(
      origin_, {.kind = AuditKind::egress,
                .outcome = is_refusal(event) ? AuditOutcome::denied : AuditOutcome::ok,
                .tool = with_its_end(target, wire::max_tool_name - 1),
                .reason = is_refusal(event) ? name_of(event.reason) : kind_name_of(event.kind),
                .bytes = bytes,
                .count = event.count}));
}

// Apart, so that asking for names that are refused does not use up the room of those that are not.
bool CellIncidents::is_first_sight(const wire::EgressEvent& event, const std::string& target) {
  if (event.kind == wire::EgressKind::closed) return false;
  // Nor asking for any names below a suffix, that of those the rules spell out.
  if (is_named_exactly(server_.egress, {event.host.data(), event.host_length}, event.address,
                       event.port)) {
    return (is_refusal(event) ? refused_by_name_ : reached_by_name_).is_first_sight(target);
  }
  return (is_refusal(event) ? refused_ : reached_).is_first_sight(target);
}

void CellIncidents::sum_up(AuditKind kind, HeldBack& held) {
  if (held.count == 0) return;
  record_(audit_record(
      origin_, {.kind = kind, .reason = summed_up, .bytes = held.bytes, .count = held.count}));
  held = {};
}

void CellIncidents::finish() {
  sum_up(AuditKind::denied, held_denials_);
  sum_up(AuditKind::egress, held_connections_);
}

}  // namespace cellblock::gateway
