#include "supervisor/gateway/records/meter.h"

#include <algorithm>

#include "policy/config/server_list.h"
#include "policy/failures/failure.h"
#include "supervisor/gateway/records/egress_text.h"

namespace cellblock::gateway {
namespace {

using metrics::Metric;
using wire::AuditKind;
using wire::AuditOutcome;

template <class Value>
constexpr std::size_t index(Value value) {
  return static_cast<std::size_t>(value);
}

metrics::CallOutcome outcome_of(AuditOutcome outcome) {
  switch (outcome) {
    case AuditOutcome::ok:
      return metrics::CallOutcome::ok;
    case AuditOutcome::cancelled:
      return metrics::CallOutcome::cancelled;
    default:
      return metrics::CallOutcome::error;
  }
}

// Of a rule or a role the record names which: the failure that the host gets is `denied`.
std::string_view code_of(const wire::AuditRecord& record) {
  const metrics::Family& family = metrics::family_of(Metric::refusals);
  const std::string_view reason = record.reason.data();
  if (std::ranges::find(family.values, reason) != family.values.end()) return reason;
  const bool by_rule = record.kind == AuditKind::call || record.kind == AuditKind::attach;
  return by_rule ? name_of(FailureCode::denied) : reason;
}

}  // namespace

void Meter::record(const wire::AuditRecord& record) {
  if (!page_) return;
  const std::size_t server = index_of({record.server.data(), record.server_length});
  switch (record.kind) {
    case AuditKind::session_opened:
      add(Metric::sessions, server);
      return add(Metric::sessions_opened, server);
    case AuditKind::session_closed:
      return subtract(Metric::sessions, server);
    case AuditKind::call:
      return call_decided(server, record);
    case AuditKind::call_ended:
      return call_ended(server, record);
    case AuditKind::attach:
      if (record.outcome == AuditOutcome::denied) refused(server, record);
      return;
    case AuditKind::refused:
      return refused(server, record);
    case AuditKind::cell_started:
      add(Metric::cells, server);
      return add(Metric::cell_starts, server);
    case AuditKind::cell_ended:
      return ended(server, record.reason.data());
    case AuditKind::finding:
      return add(Metric::findings, server, record.count);
    default:
      return;
  }
}

void Meter::call_decided(std::size_t server, const wire::AuditRecord& record) {
  if (record.outcome == AuditOutcome::denied) return refused(server, record);
  add(Metric::call_bytes, server, record.bytes, index(metrics::CallBytes::request));
  if (record.outcome != AuditOutcome::ok) {  // its host gave it up before it was made
    return add(Metric::calls, server, 1, index(outcome_of(record.outcome)));
  }
  ++in_flight_;
  add(Metric::calls_in_flight, server);
}

void Meter::call_ended(std::size_t server, const wire::AuditRecord& record) {
  if (in_flight_ > 0) --in_flight_;
  subtract(Metric::calls_in_flight, server);
  add(Metric::calls, server, 1, index(outcome_of(record.outcome)));
  add(Metric::call_bytes, server, record.bytes, index(metrics::CallBytes::answer));
  time(server, record.microseconds);
}

void Meter::refused(std::size_t server, const wire::AuditRecord& record) {
  const metrics::Family& family = metrics::family_of(Metric::refusals);
  add(Metric::refusals, server, record.count, metrics::value_index(family, code_of(record)));
}

void Meter::ended(std::size_t server, std::string_view verdict) {
  const metrics::Family& family = metrics::family_of(Metric::cell_ends);
  add(Metric::cell_ends, server, 1, metrics::value_index(family, verdict));
  subtract(Metric::cells, server);
}

void Meter::egress(std::uint32_t server, const wire::EgressEvent& event) {
  if (!page_) return;
  if (is_refusal(event)) add(Metric::egress_refusals, server, event.count);
  if (event.kind == wire::EgressKind::connected) {
    add(Metric::egress_connections, server, event.count);
  }
  if (event.kind != wire::EgressKind::closed) return;
  add(Metric::egress_bytes, server, event.sent, index(metrics::EgressBytes::sent));
  add(Metric::egress_bytes, server, event.received, index(metrics::EgressBytes::received));
}

void Meter::denied(std::uint32_t server, const wire::Denial& denial) {
  if (page_) add(Metric::denied_system_calls, server, std::max<std::uint64_t>(denial.count, 1));
}

void Meter::cell_ended(std::uint32_t server, const CellFacts& facts) {
  if (page_) add(Metric::cell_cpu, server, facts.cpu_microseconds);
}

void Meter::audit_waiting(std::size_t records) {
  if (page_) page_->set(metrics::place_of(Metric::audit_records_waiting), records);
}

void Meter::cell_memory(std::uint32_t server, std::uint64_t bytes) {
  if (page_) page_->set(metrics::place_in_gateway(Metric::cell_memory, server), bytes);
}

void Meter::calls_waiting(std::uint32_t server, std::size_t calls) {
  if (page_) page_->set(metrics::place_in_gateway(Metric::calls_waiting, server), calls);
}

void Meter::add(Metric metric, std::size_t server, std::uint64_t more, std::size_t value) {
  page_->add(metrics::place_in_gateway(metric, server) + value, more);
}

void Meter::subtract(Metric metric, std::size_t server) {
  const std::size_t place = metrics::place_in_gateway(metric, server);
  if (page_->get(place) > 0) page_->subtract(place, 1);
}

void Meter::time(std::size_t server, std::uint64_t microseconds) {
  const metrics::Family& family = metrics::family_of(Metric::call_duration);
  const std::size_t sum = metrics::numbers_of(family) - 1;
  add(Metric::call_duration, server, 1, metrics::bucket_of(microseconds));
  add(Metric::call_duration, server, microseconds, sum);
}

// no_server: of none.
std::size_t Meter::index_of(std::string_view server) const {
  return server_index(config_, server).value_or(metrics::no_server);
}

}  // namespace cellblock::gateway
