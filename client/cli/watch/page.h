#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/terminal/style.h"

/// `cellblock status --watch`: samples of cellblock/status, rows of what happened between two of
/// them, and the rows as lines of a screen. Texts are escaped.
namespace cellblock::cli {

/// A cell in one answer to cellblock/status.
struct CellSample {
  std::int64_t uptime_ms = 0;  ///< by the gateway's clock, as all that is counted
  std::int64_t calls = 0;
  std::optional<std::int64_t> cpu_ms;        ///< none: not known
  std::optional<std::int64_t> memory_bytes;  ///< likewise
};

struct ServerSample {
  std::string name;
  std::string state;
  std::map<std::string, CellSample> cells;  ///< by number
  std::int64_t refused = 0;
  std::string last_failure;  ///< empty: none
};

struct Sample {
  std::string headline;  ///< "cellblock 0.1.0, system mode"
  std::vector<ServerSample> servers;
};

/// nullopt: that is no status.
std::optional<Sample> read_sample(std::string_view status_json);

/// What happened to a server between two samples.
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

enum class Emphasis : std::uint8_t { none, heading };

struct PageLine {
  std::string text;
  Colour colour = Colour::plain;
  Emphasis emphasis = Emphasis::none;
};

struct PageSize {
  std::size_t lines = 0;
  std::size_t columns = 0;  ///< 0: no bound
};

/// Titles, and one line for each row. `columns`: 0: no bound.
std::vector<PageLine> top_table(const std::vector<TopRow>& rows, std::size_t columns);

struct TopPage {
  std::string headline;
  std::vector<TopRow> rows;  ///< sorted
  TopOrder order = TopOrder::cpu;
  std::size_t first = 0;  ///< row that is shown first, if there are so many
};

/// As many rows as fit between the headline and a line with the keys.
std::vector<PageLine> top_page(const TopPage& page, PageSize size);
/// The largest `first` that still fills the screen.
std::size_t last_first(std::size_t rows, PageSize size);

/// For a terminal that does not speak UTF-8: what is not ASCII becomes "?".
std::string ascii_of(std::string_view text);

}  // namespace cellblock::cli
