#include "client/cli/terminal/text_table.h"

#include <algorithm>

#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t gap = 2;
/// A last column with less room than this tells nothing.
constexpr std::size_t least_of_last = 12;

/// A column that is shown.
struct Shown {
  std::size_t index = 0;
  std::size_t width = 0;
};

std::size_t width_of(const TableColumn& column, const std::vector<TableRow>& rows,
                     std::size_t index) {
  std::size_t width = columns_of(column.title);
  for (const auto& row : rows) width = std::max(width, columns_of(row[index].text));
  return width;
}

// The last may be cut, so it needs less than it has.
std::size_t needed(const std::vector<Shown>& shown) {
  std::size_t width = 0;
  for (const auto& column : shown) width += column.width + gap;
  const std::size_t last = shown.back().width;
  return width - gap - last + std::min(last, least_of_last);
}

std::vector<Shown> fitting(const std::vector<TableColumn>& columns, std::vector<Shown> shown,
                           std::size_t width) {
  const auto gives_way = [&](const Shown& one) { return columns[one.index].gives_way; };
  while (width != 0 && needed(shown) > width) {
    const auto first = std::ranges::max_element(shown, {}, gives_way);
    if (gives_way(*first) == 0) break;
    shown.erase(first);
  }
  return shown;
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, columns_of(text)), ' ');
  return align == Align::left ? text + blanks : blanks + text;
}

// What stands left of the last column, and so is not its room.
std::size_t room_of_last(const std::vector<Shown>& shown, std::size_t width) {
  if (width == 0) return 0;
  std::size_t before = 0;
  for (const auto& column : shown) before += column.width + gap;
  before -= shown.back().width + gap;
  return before < width ? width - before : 1;
}

}  // namespace

std::string table_text(const std::vector<TableColumn>& columns, const std::vector<TableRow>& rows,
                       Style style, std::size_t width) {
  std::vector<Shown> all;
  all.reserve(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    all.push_back({i, width_of(columns[i], rows, i)});
  const auto shown = fitting(columns, std::move(all), width);
  const auto last_room = room_of_last(shown, width);
  const auto line = [&](const auto& cell_at) {
    std::string text;
    for (const auto& column : shown) {
      const TableCell cell = cell_at(column.index);
      const bool is_last = &column == &shown.back();
      // Painted after padding: escape sequences take no room. Nothing follows the last.
      text += is_last && columns[column.index].align == Align::left
                  ? style.paint(cell.colour, cut_to(cell.text, last_room))
                  : style.paint(cell.colour,
                                padded(cell.text, column.width, columns[column.index].align));
      text += is_last ? "\n" : std::string(gap, ' ');
    }
    return text;
  };
  std::string text = line([&](std::size_t index) { return TableCell{columns[index].title}; });
  for (const auto& row : rows) text += line([&](std::size_t index) { return row[index]; });
  return text;
}

}  // namespace cellblock::cli
