#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/terminal/style.h"

/// Aligned columns that fit the terminal.
namespace cellblock::cli {

enum class Align : std::uint8_t { left, right };

struct TableColumn {
  std::string title;
  Align align = Align::left;
  /// Where there is no room, columns with the highest number are left out first; 0: never.
  unsigned gives_way = 0;
};

struct TableCell {
  std::string text;  ///< escaped already
  Colour colour = Colour::plain;
};

using TableRow = std::vector<TableCell>;

/// `width`: of the terminal; 0: no bound. The last column is cut before any is left out. Every row
/// has as many cells as there are columns.
std::string table_text(const std::vector<TableColumn>& columns, const std::vector<TableRow>& rows,
                       Style style, std::size_t width);

}  // namespace cellblock::cli
