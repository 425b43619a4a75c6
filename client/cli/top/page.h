#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/terminal/style.h"
#include "client/cli/top/rows.h"

/// The rows as lines of a screen.
namespace cellblock::cli {

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

/// As many rows as there is room for, between the headline and a line with the keys.
std::vector<PageLine> top_page(const TopPage& page, PageSize size);
/// The largest `first` that still fills the screen.
std::size_t last_first(std::size_t rows, PageSize size);

/// For a terminal that does not speak UTF-8: what is not ASCII becomes "?".
std::string ascii_of(std::string_view text);

}  // namespace cellblock::cli
