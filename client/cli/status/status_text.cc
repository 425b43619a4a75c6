#include "client/cli/status/status_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "client/cli/status/server_text.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/terminal/text_table.h"
#include "client/cli/terminal/unit_text.h"
#include "policy/failures/end_verdict.h"

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

namespace {

// Painted after wrapping: escape sequences take no room.
std::string line_led_by(const std::string& lead, Colour colour, const std::string& rest,
                        const StatusPage& page) {
  auto text = wrapped(lead + rest, page.width, 4);
  if (!text.starts_with(lead)) return text;
  return page.style.paint(colour, lead) + text.substr(lead.size());
}

std::string last_end_of(const Json& server, const StatusPage& page) {
  const auto end = object_of(server, "last_end");
  const auto verdict = text_of(end, "verdict");
  if (end.empty() || is_on_purpose(verdict)) return {};  // nothing to look at
  const auto user = text_of(end, "user");
  std::string text =
      "\n" +
      line_led_by(text_of(server, "name") + (user.empty() ? "" : " of " + user) + ": last end:",
                  Colour::bad,
                  fmt::format(" {}: {}: {}\n", moment_text(number_of(end, "at_ms")), verdict,
                              text_of(end, "cause")),
                  page);
  for (const auto& line : texts_of(end, "stderr")) text += fmt::format("  | {}\n", line);
  return text;
}

std::string broken_of(const Json& server, const StatusPage& page) {
  const auto why = text_of(server, "broken");
  if (why.empty()) return {};
  return "\n" + line_led_by(text_of(server, "name") + ": broken:", Colour::bad,
                            fmt::format(" {}; put it right, then run \"cellblock reload\"\n", why),
                            page);
}

// Roles and tokens, which only administrators are told of.
std::string broken_parts_of(const Json& status, const StatusPage& page) {
  std::string text;
  for (const auto& part : objects_of(status, "broken")) {
    text += "\n" + line_led_by(text_of(part, "name") + ": broken:", Colour::bad,
                               fmt::format(" {}\n", text_of(part, "cause")), page);
  }
  return text;
}

std::string last_survey_of(const Json& server, const StatusPage& page) {
  const auto failed = text_of(object_of(server, "catalogue"), "failed");
  if (failed.empty()) return {};
  return "\n" + line_led_by(text_of(server, "name") + ": last survey:", Colour::bad,
                            fmt::format(" {}\n", failed), page);
}

std::string weakenings_of(const std::string& whose, const Json& object, const StatusPage& page) {
  std::string text;
  for (const auto& weakening : texts_of(object, "weakenings")) {
    text += line_led_by("weakened", Colour::weak, fmt::format(" {}: {}\n", whose, weakening), page);
  }
  return text;
}

// " --for USER" where it is another user's.
std::string for_whom(const StatusPage& page) {
  return page.whose.empty() ? std::string() : " --for " + safe_line(page.whose);
}

// One is told, more are counted.
std::string weakening_summary(const Json& server, const StatusPage& page) {
  const auto name = text_of(server, "name");
  const auto count = texts_of(server, "weakenings").size();
  if (count < 2) return weakenings_of(name, server, page);
  return line_led_by("weakened", Colour::weak,
                     fmt::format(" {}: in {} ways (\"cellblock status {}{}\" lists them)\n", name,
                                 count, name, for_whom(page)),
                     page);
}

std::string withheld_summary(const Json& server, const StatusPage& page) {
  const auto name = text_of(server, "name");
  const auto count = number_of(object_of(server, "pins"), "withheld");
  if (count == 0) return {};
  return line_led_by(
      "withheld", Colour::bad,
      fmt::format(" {}: {} definition{} (\"cellblock approve show {}{}\" shows {})\n", name, count,
                  count == 1 ? "" : "s", name, for_whom(page), count == 1 ? "it" : "them"),
      page);
}

std::string host_lacks(const Json& status) {
  std::string text;
  for (const auto& lack : texts_of(status, "kernel_lacks")) {
    text += fmt::format("host lacks: {}\n", lack);
  }
  const auto cgroup = object_of(status, "cgroup");
  const auto missing = texts_of(cgroup, "missing");
  if (missing.empty()) return text;
  // Why is said by the weakening that comes of it.
  return text +
         fmt::format("host lacks: cgroup controllers for cells: {}\n", fmt::join(missing, ", "));
}

std::string audit_line(const Json& status, Style style) {
  const Json audit = object_of(status, "audit");
  if (const auto written = audit.find("written"); written != audit.end() && *written == false) {
    return fmt::format("\naudit log: {}; {}\n", style.paint(Colour::bad, "cannot be written"),
                       audit.contains("waiting")
                           ? fmt::format("{} records wait", number_of(audit, "waiting"))
                           : "its writer has ended, and calls are refused");
  }
  const auto anchor = text_of(audit, "anchor");
  if (!anchor.empty()) return fmt::format("\naudit log: anchor {}\n", anchor);
  return status.contains("switch") ? "\naudit log: written\n" : "";
}

std::string http_line(const Json& status, const std::string& whose) {
  const Json http = object_of(status, "http");
  if (http.empty()) return {};
  std::vector<std::string> ways;
  for (const char* way : {"address", "socket"}) {
    if (auto text = text_of(http, way); !text.empty()) ways.push_back(std::move(text));
  }
  const auto tokens = texts_of(http, "tokens");
  const auto count = number_of(http, "connections");
  return fmt::format("HTTP on {}: {}{} of {}\n", fmt::join(ways, " and "),
                     tokens.empty() ? "" : fmt::format("tokens {}, ", fmt::join(tokens, ", ")),
                     fmt::format("{} connection{}", count, count == 1 ? "" : "s"),
                     whose.empty() ? "yours" : safe_line(whose));
}

// Who has switched everything off, where that is told.
std::string switch_line(const Json& status, Style style) {
  const Json off = object_of(status, "switch");
  if (off.empty() || off.value("off", Json()) != Json(true)) return {};
  const auto reason = text_of(off, "reason");
  return fmt::format("{} by uid {}{}; \"cellblock enable\" takes it back\n",
                     style.paint(Colour::bad, "switched off"), number_of(off, "by"),
                     reason.empty() ? "" : ": " + reason);
}

std::string own_failure_line(const Json& status, const StatusPage& page) {
  const auto failure = text_of(status, "last_failure");
  if (failure.empty()) return {};
  return "\n" + line_led_by("cellblock itself:", Colour::bad, fmt::format(" {}\n", failure), page);
}

std::string headline(const Json& status, const StatusPage& page) {
  const bool off = status.contains("enabled") && status["enabled"] == false;
  const auto counts =
      page.view == StatusView::summary ? server_counts(objects_of(status, "servers")) : "";
  return fmt::format(
      "cellblock {}, {} mode{}\n{}{}{}\n", text_of(status, "version"), text_of(status, "mode"),
      off ? ", " + page.style.paint(Colour::bad, "disabled: nothing is started") : "",
      switch_line(status, page.style), http_line(status, page.whose), counts);
}

std::string servers_text(const std::vector<Json>& servers, const StatusPage& page) {
  if (!servers.empty()) return server_table(servers, page.style, page.width);
  return fmt::format("There is no server that {} may use.\n",
                     page.whose.empty() ? "you" : safe_line(page.whose));
}

}  // namespace

std::string status_text(std::string_view status_json, const StatusPage& page) {
  const auto status = Json::parse(status_json, nullptr, false);
  if (!status.is_object()) return "the daemon's status cannot be read\n";
  const auto servers = objects_of(status, "servers");
  std::string ends = own_failure_line(status, page);
  if (page.view == StatusView::summary) ends += broken_parts_of(status, page);
  std::string details;
  std::string notes = page.waiting + weakenings_of("everywhere", status, page);
  for (const auto& server : servers) {
    ends += broken_of(server, page) + last_end_of(server, page);
    if (page.view == StatusView::summary) {
      ends += last_survey_of(server, page);
      notes += weakening_summary(server, page) +
               denied_summary(server, page.style, for_whom(page)) + withheld_summary(server, page);
    } else {
      notes += weakenings_of(text_of(server, "name"), server, page);
      details += server_details(server, page.style);
    }
  }
  notes += host_lacks(status);
  if (page.view == StatusView::summary) details += audit_line(status, page.style);
  return headline(status, page) + servers_text(servers, page) + details + ends +
         (notes.empty() ? "" : "\n" + notes);
}

std::string only_server(std::string_view status_json, std::string_view server) {
  auto status = Json::parse(status_json, nullptr, false);
  if (!status.is_object()) return {};
  auto kept = Json::array();
  for (const auto& element : objects_of(status, "servers")) {
    if (element.contains("name") && element["name"] == server) kept.push_back(element);
  }
  if (kept.empty()) return {};
  status["servers"] = std::move(kept);
  return status.dump();
}

}  // namespace cellblock::cli
