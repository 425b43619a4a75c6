#include "client/cli/status_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/cli/json_text.h"
#include "client/cli/server_text.h"
#include "client/cli/terminal_text.h"
#include "client/cli/time_text.h"

namespace cellblock::cli {
namespace {

using Row = std::array<std::string, 5>;

Colour colour_of(std::string_view state) {
  if (state == "ready") return Colour::good;
  if (state == "failed") return Colour::bad;
  return Colour::plain;
}

// Those in which the server does not serve anybody are counted apart.
std::string cells_of(const Json& server) {
  std::size_t serving = 0;
  std::size_t surveys = 0;
  std::int64_t longest = 0;
  for (const auto& cell : objects_of(server, "cells")) {
    const bool is_survey = text_of(cell, "program") == "survey";
    ++(is_survey ? surveys : serving);
    if (!is_survey) longest = std::max(longest, number_of(cell, "uptime_ms"));
  }
  std::vector<std::string> texts;
  if (serving > 0) {
    const auto up = duration_text(std::chrono::milliseconds(longest));
    texts.push_back(fmt::format("{} (up {})", serving, up));
  }
  if (surveys > 0) texts.push_back(fmt::format("{} survey{}", surveys, surveys == 1 ? "" : "s"));
  return texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, ", "));
}

Row row_of(const Json& server) {
  return {text_of(server, "name"), text_of(server, "state"), cells_of(server),
          text_of(server, "network"), text_of(server, "command")};
}

std::string table(const std::vector<Row>& rows, Style style) {
  std::array<std::size_t, 5> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    // Painted after padding: escape sequences take no room.
    const auto state = fmt::format("{:<{}}", row[1], widths[1]);
    text += fmt::format("{:<{}}  {}  {:<{}}  {:<{}}  {}\n", row[0], widths[0],
                        style.paint(colour_of(row[1]), state), row[2], widths[2], row[3], widths[3],
                        row[4]);
  }
  return text;
}

std::string last_end_of(const Json& server, Style style) {
  const auto end = server.find("last_end");
  if (end == server.end() || !end->is_object()) return {};
  const auto verdict = text_of(*end, "verdict");
  if (verdict == "stopped") return {};  // with its session: nothing to look at
  std::string text = fmt::format("\n{}: last end: {}: {}: {}\n", text_of(server, "name"),
                                 moment_text(number_of(*end, "at_ms")),
                                 style.paint(Colour::bad, verdict), text_of(*end, "cause"));
  for (const auto& line : texts_of(*end, "stderr")) text += fmt::format("  | {}\n", line);
  return text;
}

std::string last_survey_of(const Json& server, Style style) {
  const auto failed = text_of(object_of(server, "catalogue"), "failed");
  if (failed.empty()) return {};
  return fmt::format("\n{}: last survey: {}\n", text_of(server, "name"),
                     style.paint(Colour::bad, failed));
}

std::string weakenings_of(const std::string& whose, const Json& object, Style style) {
  std::string text;
  for (const auto& weakening : texts_of(object, "weakenings")) {
    // Painted after wrapping: escape sequences take no room.
    auto line = wrapped(fmt::format("weakened {}: {}\n", whose, weakening), terminal_width(), 4);
    text +=
        style.paint(Colour::weak, "weakened") + line.substr(std::string_view("weakened").size());
  }
  return text;
}

// One is told, more are counted.
std::string weakening_summary(const Json& server, Style style, const std::string& of) {
  const auto name = text_of(server, "name");
  const auto count = texts_of(server, "weakenings").size();
  if (count < 2) return weakenings_of(name, server, style);
  return fmt::format("{} {}: in {} ways (\"cellblock status {}{}\" lists them)\n",
                     style.paint(Colour::weak, "weakened"), name, count, name, of);
}

std::string withheld_summary(const Json& server, Style style, const std::string& of) {
  const auto name = text_of(server, "name");
  const auto count = number_of(object_of(server, "pins"), "withheld");
  if (count == 0) return {};
  return fmt::format("{} {}: {} definition{} (\"cellblock pin diff {}{}\" shows {})\n",
                     style.paint(Colour::bad, "withheld"), name, count, count == 1 ? "" : "s", name,
                     of, count == 1 ? "it" : "them");
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
    return fmt::format("\naudit log: {}; {} records wait\n",
                       style.paint(Colour::bad, "cannot be written"), number_of(audit, "waiting"));
  }
  const auto anchor = text_of(audit, "anchor");
  return anchor.empty() ? "" : fmt::format("\naudit log: anchor {}\n", anchor);
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

std::string headline(const Json& status, Style style, const std::string& whose) {
  const bool off = status.contains("enabled") && status["enabled"] == false;
  return fmt::format("cellblock {}, {} mode{}\n{}\n", text_of(status, "version"),
                     text_of(status, "mode"),
                     off ? ", " + style.paint(Colour::bad, "disabled: nothing is started") : "",
                     http_line(status, whose));
}

}  // namespace

std::string status_text(std::string_view status_json, Style style, StatusView view,
                        const std::string& whose) {
  const std::string of = whose.empty() ? std::string() : " --for " + safe_line(whose);
  const auto status = Json::parse(status_json, nullptr, false);
  if (!status.is_object()) return "the daemon's status cannot be read\n";
  const auto servers = objects_of(status, "servers");
  std::vector<Row> rows{{"SERVER", "STATE", "CELLS", "NETWORK", "COMMAND"}};
  std::string ends;
  std::string details;
  std::string weak = weakenings_of("everywhere", status, style);
  for (const auto& server : servers) {
    rows.push_back(row_of(server));
    ends += last_end_of(server, style);
    if (view == StatusView::summary) {
      ends += last_survey_of(server, style);
      weak += weakening_summary(server, style, of) + denied_summary(server, style, of) +
              withheld_summary(server, style, of);
    } else {
      weak += weakenings_of(text_of(server, "name"), server, style);
      details += server_details(server, style);
    }
  }
  weak += host_lacks(status);
  const auto none = fmt::format("There is no server that {} may use.\n",
                                whose.empty() ? "you" : safe_line(whose));
  const auto body = servers.empty() ? none : table(rows, style);
  if (view == StatusView::summary) details += audit_line(status, style);
  return headline(status, style, whose) + body + details + ends + (weak.empty() ? "" : "\n" + weak);
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
