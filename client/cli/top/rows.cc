#include "client/cli/top/rows.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace cellblock::cli {
namespace {

template <class Number>
void add(std::optional<Number>& sum, Number number) {
  sum = sum.value_or(0) + number;
}

const ServerSample* same_in(const Sample* sample, const std::string& name) {
  if (sample == nullptr) return nullptr;
  const auto found = std::ranges::find(sample->servers, name, &ServerSample::name);
  return found == sample->servers.end() ? nullptr : &*found;
}

// Counts may go back where a session that shared the cell has left.
double grown(std::int64_t from, std::int64_t to) {
  return static_cast<double>(std::max<std::int64_t>(to - from, 0));
}

void add_rates(const CellSample& before, const CellSample& now, TopRow& row) {
  const double passed_ms = grown(before.uptime_ms, now.uptime_ms);
  if (passed_ms == 0) return;
  add(row.calls_per_second, grown(before.calls, now.calls) * 1000 / passed_ms);
  if (before.cpu_ms && now.cpu_ms) {
    add(row.cpu_percent, grown(*before.cpu_ms, *now.cpu_ms) * 100 / passed_ms);
  }
}

TopRow row_of(const ServerSample* before, const ServerSample& now) {
  TopRow row{.name = now.name,
             .state = now.state,
             .cells = now.cells.size(),
             .refused = now.refused,
             .last_failure = now.last_failure};
  if (before != nullptr) row.calls_per_second = 0;
  for (const auto& [number, cell] : now.cells) {
    row.calls += cell.calls;
    if (cell.memory_bytes) add(row.memory_bytes, *cell.memory_bytes);
    if (before == nullptr) continue;
    const auto then = before->cells.find(number);
    if (then != before->cells.end()) add_rates(then->second, cell, row);
  }
  return row;
}

std::tuple<bool, double> key_of(const TopRow& row, TopOrder order) {
  switch (order) {
    case TopOrder::cpu:
      return {row.cpu_percent.has_value(), row.cpu_percent.value_or(0)};
    case TopOrder::memory:
      return {row.memory_bytes.has_value(), static_cast<double>(row.memory_bytes.value_or(0))};
    case TopOrder::calls:
      return {row.calls_per_second.has_value(), row.calls_per_second.value_or(0)};
    case TopOrder::name:
      break;
  }
  return {};
}

}  // namespace

std::vector<TopRow> top_rows(const Sample* before, const Sample& now) {
  std::vector<TopRow> rows;
  rows.reserve(now.servers.size());
  for (const ServerSample& server : now.servers) {
    rows.push_back(row_of(same_in(before, server.name), server));
  }
  return rows;
}

void sort_rows(std::vector<TopRow>& rows, TopOrder order) {
  std::ranges::sort(rows, {}, &TopRow::name);
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [order](const TopRow& row) { return key_of(row, order); });
}

TopOrder next_order(TopOrder order) {
  return order == TopOrder::name ? TopOrder::cpu
                                 : static_cast<TopOrder>(static_cast<std::uint8_t>(order) + 1);
}

std::string_view name_of(TopOrder order) {
  switch (order) {
    case TopOrder::cpu:
      return "cpu";
    case TopOrder::memory:
      return "memory";
    case TopOrder::calls:
      return "calls";
    case TopOrder::name:
      break;
  }
  return "name";
}

}  // namespace cellblock::cli
