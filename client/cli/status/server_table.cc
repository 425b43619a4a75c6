#include "client/cli/status/server_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>

#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/size_text.h"
#include "client/cli/terminal/text_table.h"
#include "client/cli/terminal/time_text.h"

namespace cellblock::cli {
namespace {

/// The cells of one server. Those in which it does not serve anybody are counted apart.
struct Cells {
  std::size_t serving = 0;
  std::size_t surveys = 0;
  std::size_t spare = 0;
  std::int64_t oldest_ms = 0;
  std::int64_t calls = 0;
  std::int64_t cpu_ms = 0;        // 0: not known
  std::int64_t memory_bytes = 0;  // likewise
};

Cells cells_of(const Json& server) {
  Cells cells;
  for (const auto& cell : objects_of(server, "cells")) {
    if (text_of(cell, "program") == "survey") {
      ++cells.surveys;
      continue;
    }
    cells.cpu_ms += number_of(cell, "cpu_ms");
    cells.memory_bytes += number_of(cell, "memory_bytes");
    if (cell.value("spare", Json()) == Json(true)) {
      ++cells.spare;
      continue;
    }
    ++cells.serving;
    cells.oldest_ms = std::max(cells.oldest_ms, number_of(cell, "uptime_ms"));
    cells.calls += number_of(cell, "calls");
  }
  return cells;
}

Colour colour_of(std::string_view state) {
  if (state == "ready") return Colour::good;
  if (state == "failed" || state == "quarantined" || state == "broken") return Colour::bad;
  return Colour::plain;
}

std::string number_of_cells(const Cells& cells) {
  std::vector<std::string> texts;
  if (cells.serving > 0) texts.push_back(fmt::format("{}", cells.serving));
  if (cells.spare > 0) texts.push_back(fmt::format("{} spare", cells.spare));
  if (cells.surveys > 0) {
    texts.push_back(fmt::format("{} survey{}", cells.surveys, cells.surveys == 1 ? "" : "s"));
  }
  return texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string or_dash(std::int64_t count) { return count == 0 ? "-" : fmt::format("{}", count); }

std::string up_text(const Cells& cells) {
  return cells.serving == 0 ? "-" : duration_text(std::chrono::milliseconds(cells.oldest_ms));
}

std::string cpu_text(const Cells& cells) {
  return cells.cpu_ms == 0 ? "-" : duration_text(std::chrono::milliseconds(cells.cpu_ms));
}

std::string memory_text(const Cells& cells) {
  const auto bytes = std::max<std::int64_t>(cells.memory_bytes, 0);
  return bytes == 0 ? "-" : size_text(static_cast<std::uint64_t>(bytes));
}

TableRow row_of(const Json& server, const Cells& cells) {
  const auto state = text_of(server, "state");
  const auto refused = number_of(server, "denied_total");
  return {{text_of(server, "name")},
          {state.empty() ? "-" : state, colour_of(state)},
          {up_text(cells)},
          {number_of_cells(cells)},
          {or_dash(number_of(server, "users"))},
          {cells.serving == 0 ? "-" : fmt::format("{}", cells.calls)},
          {cpu_text(cells)},
          {memory_text(cells)},
          {or_dash(refused), refused == 0 ? Colour::plain : Colour::weak},
          {text_of(server, "network")},
          {text_of(server, "command")}};
}

std::vector<TableColumn> columns() {
  return {{"SERVER"},
          {"STATE"},
          {"UP", Align::right, 3},
          {"CELLS", Align::left, 2},
          {"USERS", Align::right, 3},
          {"CALLS", Align::right, 4},
          {"CPU", Align::right, 4},
          {"MEMORY", Align::right, 3},
          {"REFUSED", Align::right, 1},
          {"NETWORK", Align::left, 5},
          {"COMMAND", Align::left, 6}};
}

void drop(const char* title, std::vector<TableColumn>& shown, std::vector<TableRow>& rows) {
  const auto column = std::ranges::find(shown, title, &TableColumn::title);
  for (TableRow& row : rows) row.erase(row.begin() + (column - shown.begin()));
  shown.erase(column);
}

// Where no cell has a control group, or the host no controller, there is nothing to show.
void drop_if_unknown(std::int64_t Cells::* number, const char* title, const std::vector<Cells>& all,
                     std::vector<TableColumn>& shown, std::vector<TableRow>& rows) {
  if (std::ranges::any_of(all, [&](const Cells& cells) { return cells.*number != 0; })) return;
  drop(title, shown, rows);
}

// Of one user's status it is always he.
bool are_of_many(const std::vector<Json>& servers) {
  return std::ranges::any_of(servers, [](const Json& server) { return server.contains("users"); });
}

}  // namespace

std::string server_table(const std::vector<Json>& servers, Style style, std::size_t width) {
  std::vector<TableRow> rows;
  std::vector<Cells> cells;
  for (const auto& server : servers) {
    cells.push_back(cells_of(server));
    rows.push_back(row_of(server, cells.back()));
  }
  std::vector<TableColumn> shown = columns();
  drop_if_unknown(&Cells::cpu_ms, "CPU", cells, shown, rows);
  drop_if_unknown(&Cells::memory_bytes, "MEMORY", cells, shown, rows);
  if (!are_of_many(servers)) drop("USERS", shown, rows);
  return table_text(shown, rows, style, width);
}

std::string server_counts(const std::vector<Json>& servers) {
  if (servers.size() < 2) return {};
  std::map<std::string, std::size_t> states;
  for (const auto& server : servers) ++states[text_of(server, "state")];
  std::vector<std::string> texts;
  texts.reserve(states.size());
  for (const auto& [state, count] : states) {
    texts.push_back(fmt::format("{} {}", count, state.empty() ? "-" : state));
  }
  return fmt::format("{} servers: {}\n", servers.size(), fmt::join(texts, ", "));
}

}  // namespace cellblock::cli
