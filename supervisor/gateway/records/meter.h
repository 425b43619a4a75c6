#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/failures/end_verdict.h"
#include "policy/metrics/families.h"
#include "supervisor/ipc/metrics_page.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::gateway {

/// Counts what this gateway does. Nearly all of it is told by what is recorded for the audit log,
/// which everything passes; it is counted before audit_limiter sums it up. Without a page it does
/// nothing.
class Meter {
 public:
  /// `config` outlives it.
  Meter(const Config& config, std::optional<MetricsPage> page)
      : config_(config), page_(std::move(page)) {}

  bool is_on() const { return page_.has_value(); }

  void record(const wire::AuditRecord& record);
  void egress(std::uint32_t server, const wire::EgressEvent& event);
  void denied(std::uint32_t server, const wire::Denial& denial);
  void cell_ended(std::uint32_t server, const CellFacts& facts);

  // Looked at from time to time.
  void audit_waiting(std::size_t records);
  void cell_memory(std::uint32_t server, std::uint64_t bytes);
  void calls_waiting(std::uint32_t server, std::size_t calls);
  /// While there are some, something can wait.
  bool any_in_flight() const { return in_flight_ > 0; }

 private:
  void call_decided(std::size_t server, const wire::AuditRecord& record);
  void call_ended(std::size_t server, const wire::AuditRecord& record);
  void refused(std::size_t server, const wire::AuditRecord& record);
  void ended(std::size_t server, std::string_view verdict);
  void add(metrics::Metric metric, std::size_t server, std::uint64_t more = 1,
           std::size_t value = 0);
  void subtract(metrics::Metric metric, std::size_t server);
  void time(std::size_t server, std::uint64_t microseconds);
  std::size_t index_of(std::string_view server) const;

  const Config& config_;
  std::optional<MetricsPage> page_;
  std::uint64_t in_flight_ = 0;
};

}  // namespace cellblock::gateway
