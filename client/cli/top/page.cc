#include "client/cli/top/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "client/cli/terminal/size_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/terminal/text_table.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t around = 4;  // headline, totals, titles, keys

std::string one_decimal(const std::optional<double>& number) {
  return number ? fmt::format("{:.1f}", *number) : "-";
}

std::string size_or_dash(const std::optional<std::int64_t>& bytes) {
  return bytes ? size_text(static_cast<std::uint64_t>(std::max<std::int64_t>(*bytes, 0))) : "-";
}

const std::vector<TableColumn>& columns() {
  static const std::vector<TableColumn> all{{"SERVER"},
                                            {"STATE"},
                                            {"CELLS", Align::right, 4},
                                            {"CPU%", Align::right},
                                            {"MEMORY", Align::right, 1},
                                            {"CALLS", Align::right, 3},
                                            {"CALLS/S", Align::right, 2},
                                            {"REFUSED", Align::right, 5},
                                            {"LAST FAILURE", Align::left, 6}};
  return all;
}

TableRow cells_of(const TopRow& row) {
  return {{row.name},
          {row.state},
          {fmt::format("{}", row.cells)},
          {one_decimal(row.cpu_percent)},
          {size_or_dash(row.memory_bytes)},
          {fmt::format("{}", row.calls)},
          {one_decimal(row.calls_per_second)},
          {fmt::format("{}", row.refused)},
          {row.last_failure}};
}

Colour colour_of(const TopRow& row) {
  const bool is_bad = row.state == "failed" || row.state == "quarantined";
  return is_bad ? Colour::bad : Colour::plain;
}

template <class Number>
std::optional<Number> sum_of(const std::vector<TopRow>& rows,
                             std::optional<Number> TopRow::* number) {
  std::optional<Number> sum;
  for (const TopRow& row : rows) {
    if (row.*number) sum = sum.value_or(0) + *(row.*number);
  }
  return sum;
}

std::string totals_of(const std::vector<TopRow>& rows) {
  std::size_t cells = 0;
  for (const TopRow& row : rows) cells += row.cells;
  return fmt::format("{} servers, {} cells, CPU {} %, memory {}, {} calls/s", rows.size(), cells,
                     one_decimal(sum_of(rows, &TopRow::cpu_percent)),
                     size_or_dash(sum_of(rows, &TopRow::memory_bytes)),
                     one_decimal(sum_of(rows, &TopRow::calls_per_second)));
}

std::string keys_of(const TopPage& page, std::size_t first, std::size_t shown) {
  const auto all = page.rows.size();
  const std::string place =
      shown < all ? fmt::format("  {}-{} of {}", first + 1, first + shown, all) : "";
  return fmt::format("q quit  s sorted by {}  arrows scroll{}", name_of(page.order), place);
}

}  // namespace

std::vector<PageLine> top_table(const std::vector<TopRow>& rows, std::size_t width) {
  std::vector<TableRow> table;
  table.reserve(rows.size());
  for (const TopRow& row : rows) table.push_back(cells_of(row));
  const std::string text = table_text(columns(), table, Style::none(), width);
  std::vector<PageLine> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const bool is_title = lines.empty();
    lines.push_back({.text = text.substr(begin, end - begin),
                     .colour = is_title ? Colour::plain : colour_of(rows.at(lines.size() - 1)),
                     .emphasis = is_title ? Emphasis::heading : Emphasis::none});
    begin = end + 1;
  }
  return lines;
}

std::size_t last_first(std::size_t rows, PageSize size) {
  const std::size_t room = size.lines > around ? size.lines - around : 1;
  return rows > room ? rows - room : 0;
}

std::vector<PageLine> top_page(const TopPage& page, PageSize size) {
  const std::size_t room = size.lines > around ? size.lines - around : 1;
  const std::size_t first = std::min(page.first, last_first(page.rows.size(), size));
  std::vector<PageLine> table = top_table(page.rows, size.columns);
  const std::size_t shown = std::min(room, page.rows.size() - first);
  std::vector<PageLine> lines{{.text = page.headline}, {.text = totals_of(page.rows)}, table[0]};
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(table[1 + first + i]);
  lines.resize(std::max(lines.size(), size.lines > 0 ? size.lines - 1 : 0));
  lines.push_back({.text = keys_of(page, first, shown)});
  for (PageLine& line : lines) line.text = cut_to(line.text, size.columns);
  if (lines.size() > size.lines) lines.resize(size.lines);
  return lines;
}

std::string ascii_of(std::string_view text) {
  std::string ascii;
  for (const char byte : text) {
    const auto value = static_cast<unsigned char>(byte);
    if (value < 0x80U) {
      ascii += byte;
    } else if ((value & 0xc0U) == 0xc0U) {
      ascii += '?';
    }
  }
  return ascii;
}

}  // namespace cellblock::cli
