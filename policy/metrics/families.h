#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "policy/base/server_set.h"

/// What is measured: one table, from which both the places of the numbers in shared memory and the
/// text of a scrape are made. docs/metrics.md is held to it by a test. No label ever has a value
/// that a host or a server chose: they are declared names, and the closed sets of this table.
namespace cellblock::metrics {

/// In the order of the table.
enum class Metric : std::uint8_t {
  connections,
  connections_refused,
  stuck_closes,
  gateways,
  gateway_starts,
  audit_writer_starts,
  start_time,
  audit_log_oldest,
  broken,
  sessions,
  sessions_opened,
  audit_records_waiting,
  calls,
  call_duration,
  call_bytes,
  calls_in_flight,
  calls_waiting,
  refusals,
  findings,
  cell_starts,
  cell_ends,
  cells,
  cell_cpu,
  cell_memory,
  denied_system_calls,
  egress_connections,
  egress_refusals,
  egress_bytes,
};

inline constexpr std::size_t metric_count = static_cast<std::size_t>(Metric::egress_bytes) + 1;

enum class Kind : std::uint8_t { counter, gauge, histogram };

/// What each number of a family belongs to.
enum class Scope : std::uint8_t {
  daemon,
  gateway,  ///< summed over users, whose uids are no labels
  server,   ///< likewise; label `server`, empty for what is about none
};

struct Family {
  Metric metric{};
  std::string_view name;
  std::string_view help;
  Kind kind{};
  Scope scope{};
  std::string_view label;                    ///< besides `server`; empty: none
  std::span<const std::string_view> values;  ///< of that label
  double divisor = 1;                        ///< how many are one of what is shown
};

std::span<const Family> families();
const Family& family_of(Metric metric);

/// Upper bounds of a histogram's buckets in its counting unit; one more bucket has no bound.
std::span<const std::uint64_t> histogram_bounds();
std::size_t bucket_of(std::uint64_t value);

/// Numbers of one family in one scope. A histogram has its buckets, and behind them the sum.
std::size_t numbers_of(const Family& family);
std::size_t numbers_of(Scope scope);
/// The place of the family's first number among those of its scope.
std::size_t place_of(Metric metric);

/// The index of a label's value in its family; the last one, "other", for any other value.
std::size_t value_index(const Family& family, std::string_view value);

/// Behind the last server that there can be. A reload brings further servers: no number's place
/// depends on how many there are.
inline constexpr std::size_t no_server = max_servers;
/// The numbers that one gateway counts: its own, those of each server, and those of none.
std::size_t gateway_numbers();
/// `server`: its index, or no_server.
std::size_t place_in_gateway(Metric metric, std::size_t server);

// Values of labels that are counted by more than one name.
enum class CallOutcome : std::uint8_t { ok, error, cancelled };
enum class CallBytes : std::uint8_t { request, answer };
enum class EgressBytes : std::uint8_t { sent, received };

}  // namespace cellblock::metrics
