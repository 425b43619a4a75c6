#include "supervisor/gateway/records/audit_limiter.h"

#include <algorithm>
#include <utility>

namespace cellblock::gateway {

bool AuditBudget::has_room(Time now) const {
  return std::max(full_at_, now) + one_per_ <= now + one_per_ * burst_;
}

bool AuditBudget::spend(Time now) {
  if (!has_room(now)) return false;
  full_at_ = std::max(full_at_, now) + one_per_;
  return true;
}

namespace {

using wire::AuditKind;
using wire::AuditOutcome;

std::string_view tool_of(const wire::AuditRecord& record) {
  return {record.tool.data(), record.tool_length};
}

bool is_of_session(AuditKind kind) {
  return kind == AuditKind::session_opened || kind == AuditKind::session_closed ||
         kind == AuditKind::label;
}

// Of a session's an honest host has many, and to cause one costs it as much as a call.
AuditBudget budget_of(AuditKind kind) {
  return is_of_session(kind) ? AuditBudget(500, Milliseconds{20}) : AuditBudget();
}

}  // namespace

bool AuditLimiter::is_cheap_to_cause(const wire::AuditRecord& record) {
  switch (record.kind) {
    case AuditKind::refused:
    case AuditKind::session_opened:
    case AuditKind::session_closed:
    case AuditKind::label:
    case AuditKind::flow:
    case AuditKind::finding:  // a server may say what it likes as often as it likes
      return true;
    case AuditKind::call:  // also one that its host gave up before it was made
      return record.outcome != AuditOutcome::ok;
    case AuditKind::attach:
      return record.outcome == AuditOutcome::denied;
    case AuditKind::pin:  // but what somebody decided
      return record.outcome != AuditOutcome::ok;
    default:
      return false;
  }
}

// The name of a label is its host's own, and would make a budget for each.
AuditLimiter::Key AuditLimiter::key_of(const wire::AuditRecord& record) {
  return {.kind = record.kind,
          .outcome = record.outcome,
          .cell = record.cell,
          .server = {record.server.data(), record.server_length},
          .reason = record.kind == AuditKind::label ? "" : record.reason.data()};
}

AuditLimiter::Budgets::value_type& AuditLimiter::budget_for(Key key, Time now) {
  if (budgets_.size() >= max_budgets && !budgets_.contains(key)) {
    std::erase_if(budgets_, [now](const auto& alike) {
      return alike.second.count == 0 && alike.second.budget.is_full(now);
    });
    if (budgets_.size() >= max_budgets) key = {.kind = key.kind, .outcome = key.outcome};
  }
  const AuditBudget budget = budget_of(key.kind);
  return *budgets_.try_emplace(std::move(key), Alike{.budget = budget}).first;
}

void AuditLimiter::add(const AuditEntry& record, Time now) {
  if (record.kind == AuditKind::cell_ended) cell_ended(record.cell);
  if (!is_cheap_to_cause(record)) return record_(record);
  AuditBudget& all = is_of_session(record.kind) ? all_sessions_ : all_others_;
  auto& alike = budget_for(
      all.has_room(now) ? key_of(record) : Key{.kind = record.kind, .outcome = record.outcome},
      now);
  if (is_worth_a_line(record, alike, all, now)) return record_(record);
  alike.second.count += record.count;
  alike.second.bytes += record.bytes;
  if (!due_) due_ = now + longest_hold;
}

bool AuditLimiter::is_worth_a_line(const AuditEntry& record, Budgets::value_type& alike,
                                   AuditBudget& all, Time now) {
  const bool is_new = record.kind == AuditKind::call &&
                      alike.second.tools.is_first_sight(std::string(tool_of(record)));
  const bool is_within = all.has_room(now) && alike.second.budget.spend(now) && all.spend(now);
  if (is_within) sum_up(alike);
  return is_within || (is_new && all_tools_.spend(now));
}

void AuditLimiter::sum_up(Budgets::value_type& alike) {
  const Key& key = alike.first;
  const std::uint64_t count = std::exchange(alike.second.count, 0);
  const std::uint64_t bytes = std::exchange(alike.second.bytes, 0);
  if (count == 0) return;
  record_(audit_record({.cell = key.cell, .server = key.server}, {.kind = key.kind,
                                                                  .outcome = key.outcome,
                                                                  .tool = key.reason,
                                                                  .reason = summed_up,
                                                                  .bytes = bytes,
                                                                  .count = count}));
}

void AuditLimiter::cell_ended(std::uint64_t cell) {
  if (cell == 0) return;
  for (auto& alike : budgets_) {
    if (alike.first.cell == cell) sum_up(alike);
  }
  std::erase_if(budgets_, [cell](const auto& alike) { return alike.first.cell == cell; });
}

void AuditLimiter::deadline(Time now) {
  if (!due_ || now < *due_) return;
  finish();
}

void AuditLimiter::finish() {
  due_.reset();
  for (auto& alike : budgets_) sum_up(alike);
}

}  // namespace cellblock::gateway
