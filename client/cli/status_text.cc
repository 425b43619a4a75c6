#include "client/cli/status_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/cli/terminal_text.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::array<std::string, 5>;

std::string text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return {};
  return found->is_string() ? safe_line(found->get<std::string>()) : std::string();
}

std::int64_t number_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::vector<Json> objects_of(const Json& object, const char* name) {
  std::vector<Json> objects;
  if (!object.contains(name) || !object[name].is_array()) return objects;
  std::ranges::copy_if(object[name], std::back_inserter(objects),
                       [](const Json& element) { return element.is_object(); });
  return objects;
}

std::vector<std::string> texts_of(const Json& object, const char* name) {
  std::vector<std::string> texts;
  if (!object.contains(name) || !object[name].is_array()) return texts;
  for (const auto& element : object[name]) {
    if (element.is_string()) texts.push_back(safe_line(element.get<std::string>()));
  }
  return texts;
}

Colour colour_of(std::string_view state) {
  if (state == "ready") return Colour::good;
  if (state == "failed") return Colour::bad;
  return Colour::plain;
}

std::string cells_of(const Json& server) {
  const auto cells = objects_of(server, "cells");
  if (cells.empty()) return "-";
  std::int64_t longest = 0;
  for (const auto& cell : cells) longest = std::max(longest, number_of(cell, "uptime_ms"));
  return fmt::format("{} (up {})", cells.size(), duration_text(std::chrono::milliseconds(longest)));
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

std::string weakenings_of(const std::string& whose, const Json& object, Style style) {
  std::string text;
  for (const auto& weakening : texts_of(object, "weakenings")) {
    text += fmt::format("{} {}: {}\n", style.paint(Colour::weak, "weakened"), whose, weakening);
  }
  return text;
}

std::string headline(const Json& status, Style style) {
  const bool off = status.contains("enabled") && status["enabled"] == false;
  return fmt::format("cellblock {}, {} mode{}\n\n", text_of(status, "version"),
                     text_of(status, "mode"),
                     off ? ", " + style.paint(Colour::bad, "switched off") : "");
}

}  // namespace

std::string duration_text(std::chrono::milliseconds duration) {
  const auto ms = duration.count();
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  if (ms < 3'600'000) return fmt::format("{} min", ms / 60'000);
  if (ms < 86'400'000) return fmt::format("{} h", ms / 3'600'000);
  return fmt::format("{} d", ms / 86'400'000);
}

std::string moment_text(std::int64_t at_ms) {
  const std::time_t seconds = at_ms / 1000;
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr) return "?";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", parts);
}

std::string status_text(std::string_view status_json, Style style) {
  const auto status = Json::parse(status_json, nullptr, false);
  if (!status.is_object()) return "the daemon's status cannot be read\n";
  const auto servers = objects_of(status, "servers");
  std::vector<Row> rows{{"SERVER", "STATE", "CELLS", "NETWORK", "COMMAND"}};
  std::string ends;
  std::string weak = weakenings_of("everywhere", status, style);
  for (const auto& server : servers) {
    rows.push_back(row_of(server));
    ends += last_end_of(server, style);
    weak += weakenings_of(text_of(server, "name"), server, style);
  }
  const auto body = servers.empty() ? "There is no server that you may use.\n" : table(rows, style);
  return headline(status, style) + body + ends + (weak.empty() ? "" : "\n" + weak);
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
