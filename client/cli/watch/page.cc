#include "client/cli/watch/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/terminal/text_table.h"
#include "client/cli/terminal/unit_text.h"
#include "policy/failures/end_verdict.h"

namespace cellblock::cli {
namespace {

std::optional<std::int64_t> number_if_there(const Json& object, const char* name) {
  return object.contains(name) ? std::optional(number_of(object, name)) : std::nullopt;
}

CellSample cell_of(const Json& cell) {
  return {.uptime_ms = number_of(cell, "uptime_ms"),
          .calls = number_of(cell, "calls"),
          .cpu_ms = number_if_there(cell, "cpu_ms"),
          .memory_bytes = number_if_there(cell, "memory_bytes")};
}

// As status shows it: what was stopped has not failed.
std::string failure_of(const Json& server) {
  const Json end = object_of(server, "last_end");
  const auto verdict = text_of(end, "verdict");
  if (!verdict.empty() && is_crash(verdict)) {
    return text_of(end, "cause");
  }
  return text_of(object_of(server, "catalogue"), "failed");
}

ServerSample server_of(const Json& server) {
  ServerSample sample{.name = text_of(server, "name"),
                      .state = text_of(server, "state"),
                      .cells = {},
                      .refused = number_of(server, "denied_total"),
                      .last_failure = failure_of(server)};
  for (const Json& cell : objects_of(server, "cells")) {
    sample.cells[text_of(cell, "cell")] = cell_of(cell);
  }
  return sample;
}

}  // namespace

std::optional<Sample> read_sample(std::string_view status_json) {
  const auto status = Json::parse(status_json, nullptr, false);
  if (!status.is_object() || !status.contains("servers")) return std::nullopt;
  Sample sample{.headline = fmt::format("cellblock {}, {} mode", text_of(status, "version"),
                                        text_of(status, "mode")),
                .servers = {}};
  for (const Json& server : objects_of(status, "servers")) {
    sample.servers.push_back(server_of(server));
  }
  return sample;
}

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
