#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/top/sample.h"

/// What happens between two samples, a row for each server.
namespace cellblock::cli {

struct TopRow {
  std::string name;
  std::string state;
  std::size_t cells = 0;
  std::optional<double> cpu_percent;         ///< of one processor; none: not known
  std::optional<std::int64_t> memory_bytes;  ///< likewise
  std::int64_t calls = 0;                    ///< of the cells that run
  std::optional<double> calls_per_second;    ///< none: there was no sample before
  std::int64_t refused = 0;
  std::string last_failure;
};

/// Rates are of the cells that are in both: a cell's own age says how much time is between them.
std::vector<TopRow> top_rows(const Sample* before, const Sample& now);

enum class TopOrder : std::uint8_t { cpu, memory, calls, name };

/// The largest first, what is not known last; equal ones by name.
void sort_rows(std::vector<TopRow>& rows, TopOrder order);
TopOrder next_order(TopOrder order);
std::string_view name_of(TopOrder order);

}  // namespace cellblock::cli
