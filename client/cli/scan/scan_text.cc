#include "client/cli/scan/scan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/terminal/text_table.h"

namespace cellblock::cli {
namespace {

using Findings = std::vector<ScanFinding>;

constexpr std::size_t most_findings = 65'536;

std::string table_of(const Findings& findings, Style style, std::size_t width) {
  std::vector<TableRow> rows;
  rows.reserve(findings.size());
  for (const ScanFinding& one : findings) {
    rows.push_back({{safe_line(one.user)},
                    {std::string(name_of(one.kind))},
                    {one.host.empty() ? "-" : safe_line(one.host)},
                    {safe_line(one.name), Colour::bad},
                    {safe_line(one.where)},
                    {safe_line(one.command)}});
  }
  return table_text({{.title = "USER"},
                     {.title = "SEEN"},
                     {.title = "HOST", .gives_way = 1},
                     {.title = "SERVER"},
                     {.title = "WHERE"},
                     {.title = "COMMAND", .gives_way = 2}},
                    rows, style, width);
}

std::string remedies_of(const Findings& findings) {
  std::vector<std::string> lines;
  for (const ScanFinding& one : findings) {
    if (one.remedy.empty() || std::ranges::find(lines, one.remedy) != lines.end()) continue;
    lines.push_back(one.remedy);
  }
  if (lines.empty()) return {};
  std::string text = "\nBring them into cells:\n";
  for (const std::string& line : lines) text += "  " + safe_line(line) + "\n";
  return text;
}

std::string count_text(std::size_t count) {
  return count == 1 ? "1 MCP server is outside cells"
                    : fmt::format("{} MCP servers are outside cells", count);
}

}  // namespace

std::string scan_text(const Findings& findings, Style style, std::size_t width) {
  if (findings.empty()) return "No MCP server was found outside cells.\n";
  return fmt::format(
      "{}\n{}.\nEach reads and writes what its user can, and reaches the whole network.\n{}",
      table_of(findings, style, width), count_text(findings.size()), remedies_of(findings));
}

std::string difference_text(const ScanDifference& difference, Style style, std::size_t width) {
  std::string text;
  if (!difference.fresh.empty()) {
    text += "New:\n" + table_of(difference.fresh, style, width) + remedies_of(difference.fresh);
  }
  if (!difference.gone.empty()) {
    text += "Gone:\n" + table_of(difference.gone, style, width);
  }
  return text.empty() ? "Nothing has changed.\n" : text;
}

namespace {

Json json_of(const Findings& findings) {
  Json list = Json::array();
  for (const ScanFinding& one : findings) {
    list.push_back(Json{{"seen", name_of(one.kind)},
                        {"user", one.user},
                        {"host", one.host},
                        {"name", one.name},
                        {"where", one.where},
                        {"command", one.command},
                        {"remedy", one.remedy}});
  }
  return list;
}

ScanFinding::Kind kind_named(const std::string& name) {
  using enum ScanFinding::Kind;
  constexpr std::array kinds{configured, running, listening};
  const auto found = std::ranges::find(kinds, name, [](auto kind) { return name_of(kind); });
  return found == kinds.end() ? configured : *found;
}

}  // namespace

std::string scan_json(const Findings& findings) {
  return dumped(Json{{"outside", json_of(findings)}});
}

std::string scan_json(const Findings& findings, const ScanDifference& difference) {
  return dumped(Json{{"outside", json_of(findings)},
                     {"new", json_of(difference.fresh)},
                     {"gone", json_of(difference.gone)}});
}

Result<Findings> read_scan(const std::string& json) {
  const Json whole = Json::parse(json, nullptr, false);
  if (!whole.is_object() || !whole.contains("outside") || !whole.at("outside").is_array()) {
    return fail("it is nothing that `cellblock --json scan` printed");
  }
  if (whole.at("outside").size() > most_findings) return fail("it has too many entries");
  Findings findings;
  for (const Json& one : whole.at("outside")) {
    findings.push_back({.kind = kind_named(raw_text(one, "seen")),
                        .user = raw_text(one, "user"),
                        .host = raw_text(one, "host"),
                        .name = raw_text(one, "name"),
                        .where = raw_text(one, "where"),
                        .command = raw_text(one, "command"),
                        .remedy = raw_text(one, "remedy")});
  }
  return findings;
}

}  // namespace cellblock::cli
