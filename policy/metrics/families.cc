#include "policy/metrics/families.h"

#include <algorithm>
#include <array>
#include <vector>

#include "policy/failures/failure_code.h"
#include "policy/failures/verdict.h"

namespace cellblock::metrics {
namespace {

constexpr double microseconds = 1e6;
constexpr std::string_view other = "other";

constexpr std::array<std::string_view, 3> call_outcomes = {"ok", "error", "cancelled"};
constexpr std::array<std::string_view, 2> call_directions = {"request", "answer"};
constexpr std::array<std::string_view, 2> egress_directions = {"sent", "received"};

// In microseconds: from what a tool in the same process takes to the longest of deadlines.
constexpr std::array<std::uint64_t, 14> bounds = {
    1'000,     2'500,     5'000,      10'000,     25'000,     100'000,     250'000,
    1'000'000, 2'500'000, 10'000'000, 30'000'000, 60'000'000, 300'000'000, 3'600'000'000};

std::span<const std::string_view> codes() {
  static const auto names = [] {
    std::array<std::string_view, failure_code_count + 1> all{};
    for (std::uint8_t i = 0; i < failure_code_count; ++i) all.at(i) = name_of(FailureCode{i});
    all.back() = other;
    return all;
  }();
  return names;
}

std::span<const std::string_view> verdicts() {
  static const auto names = [] {
    std::array<std::string_view, verdict_count + 1> all{};
    for (std::uint8_t i = 0; i < verdict_count; ++i) all.at(i) = name_of(Verdict{i});
    all.back() = other;
    return all;
  }();
  return names;
}

using Rows = std::vector<Family>;

void add_installation(Rows& rows) {
  using enum Kind;
  using enum Metric;
  using enum Scope;
  rows.push_back(
      {connections, "cellblock_connections_total", "Connections to the socket.", counter, daemon});
  rows.push_back({connections_refused, "cellblock_connections_refused_total",
                  "Connections that were turned away at the socket.", counter, daemon});
  rows.push_back({stuck_closes, "cellblock_stuck_closes",
                  "Processes that have waited for 0.5 s or more to close what came with a "
                  "connection.",
                  gauge, daemon});
  rows.push_back(
      {gateways, "cellblock_gateways", "Gateways that run: users with a session.", gauge, daemon});
  rows.push_back({gateway_starts, "cellblock_gateway_starts_total", "Gateways that were started.",
                  counter, daemon});
  rows.push_back({audit_writer_starts, "cellblock_audit_writer_starts_total",
                  "Starts of the audit writer: more than one means that it ended.", counter,
                  daemon});
  rows.push_back({start_time, "cellblock_start_time_seconds",
                  "When cellblockd started, in Unix time.", gauge, daemon});
  rows.push_back({audit_log_oldest, "cellblock_audit_log_oldest_time_seconds",
                  "When the oldest line of the audit log was written, in Unix time.", gauge,
                  daemon});
  rows.push_back({broken, "cellblock_broken",
                  "Servers, roles and tokens that are left out, since something of the host that "
                  "they name is not there.",
                  gauge, daemon});
  rows.push_back(
      {sessions, "cellblock_sessions", "Sessions of hosts that are open.", gauge, gateway});
  rows.push_back({sessions_opened, "cellblock_sessions_total",
                  "Sessions of hosts that were opened.", counter, gateway});
  rows.push_back({audit_records_waiting, "cellblock_audit_records_waiting",
                  "Audit records that are not known to be in the log.", gauge, gateway});
}

void add_calls(Rows& rows) {
  using enum Kind;
  using enum Metric;
  using enum Scope;
  rows.push_back({calls, "cellblock_calls_total", "Calls that were made, by how they ended.",
                  counter, server, "outcome", call_outcomes});
  rows.push_back({call_duration,
                  "cellblock_call_duration_seconds",
                  "From a call's arrival to its answer, waiting included.",
                  histogram,
                  server,
                  {},
                  {},
                  microseconds});
  rows.push_back({call_bytes, "cellblock_call_bytes_total", "Bytes of calls and of their answers.",
                  counter, server, "direction", call_directions});
  rows.push_back({calls_in_flight, "cellblock_calls_in_flight", "Calls that are not answered yet.",
                  gauge, server});
  rows.push_back({calls_waiting, "cellblock_calls_waiting",
                  "Calls that wait in the queue for a place.", gauge, server});
  rows.push_back({refusals, "cellblock_refusals_total",
                  "What cellblock refused, by the code of the failure.", counter, server, "code",
                  codes()});
  rows.push_back({findings, "cellblock_findings_total", "What the detectors of redaction found.",
                  counter, server});
  rows.push_back(
      {cell_starts, "cellblock_cell_starts_total", "Cells that were started.", counter, server});
}

void add_cells(Rows& rows) {
  using enum Kind;
  using enum Metric;
  using enum Scope;
  rows.push_back({cell_ends, "cellblock_cell_ends_total", "Cells that ended, by verdict.", counter,
                  server, "verdict", verdicts()});
  rows.push_back({cells, "cellblock_cells", "Cells that run.", gauge, server});
  rows.push_back({cell_cpu,
                  "cellblock_cell_cpu_seconds_total",
                  "CPU time of cells, told when they end.",
                  counter,
                  server,
                  {},
                  {},
                  microseconds});
  rows.push_back({cell_memory, "cellblock_cell_memory_bytes",
                  "Memory of cells that run, where they have a control group.", gauge, server});
  rows.push_back({denied_system_calls, "cellblock_denied_system_calls_total",
                  "System calls that a cell's filter refused.", counter, server});
  rows.push_back({egress_connections, "cellblock_egress_connections_total",
                  "Connections that were made for cells.", counter, server});
  rows.push_back({egress_refusals, "cellblock_egress_refusals_total",
                  "Names and connections that were refused to cells, or could not be had.", counter,
                  server});
  rows.push_back({egress_bytes, "cellblock_egress_bytes_total",
                  "Bytes of connections of cells, told when they close.", counter, server,
                  "direction", egress_directions});
}

const Rows& table() {
  static const Rows made = [] {
    Rows rows;
    add_installation(rows);
    add_calls(rows);
    add_cells(rows);
    return rows;
  }();
  return made;
}

}  // namespace

std::span<const Family> families() { return table(); }

const Family& family_of(Metric metric) { return table().at(static_cast<std::size_t>(metric)); }

std::span<const std::uint64_t> histogram_bounds() { return bounds; }

std::size_t bucket_of(std::uint64_t value) {
  return static_cast<std::size_t>(std::ranges::lower_bound(bounds, value) - bounds.begin());
}

std::size_t numbers_of(const Family& family) {
  if (family.kind == Kind::histogram) return bounds.size() + 2;
  return std::max<std::size_t>(family.values.size(), 1);
}

std::size_t numbers_of(Scope scope) {
  std::size_t count = 0;
  for (const Family& family : families()) {
    if (family.scope == scope) count += numbers_of(family);
  }
  return count;
}

std::size_t place_of(Metric metric) {
  const Scope scope = family_of(metric).scope;
  std::size_t place = 0;
  for (const Family& family : families()) {
    if (family.metric == metric) break;
    if (family.scope == scope) place += numbers_of(family);
  }
  return place;
}

std::size_t value_index(const Family& family, std::string_view value) {
  const auto found = std::ranges::find(family.values, value);
  const auto index = static_cast<std::size_t>(found - family.values.begin());
  return std::min(index, family.values.size() - 1);
}

std::size_t gateway_numbers() {
  return numbers_of(Scope::gateway) + (no_server + 1) * numbers_of(Scope::server);
}

std::size_t place_in_gateway(Metric metric, std::size_t server) {
  if (family_of(metric).scope == Scope::gateway) return place_of(metric);
  return numbers_of(Scope::gateway) + server * numbers_of(Scope::server) + place_of(metric);
}

}  // namespace cellblock::metrics
