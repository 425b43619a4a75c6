#include "client/cli/status/server_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/terminal/unit_text.h"

namespace cellblock::cli {
namespace {

// One line of a server's description: the label in a column of its own, then the text, escaped.
std::string labelled_line(std::string_view label, std::string_view text) {
  return text.empty() ? std::string() : fmt::format("  {:<10} {}\n", label, text);
}

bool is_true(const Json& object, const char* name) {
  return object.value(name, Json()) == Json(true);
}

std::string known_text(const Json& catalogue) {
  std::string text =
      fmt::format("{}, MCP {}, as found {} ({})", text_of(catalogue, "era"),
                  text_of(catalogue, "protocol_version"),
                  moment_text(number_of(catalogue, "found_at_ms")), text_of(catalogue, "source"));
  if (is_true(catalogue, "expired")) text += ", past its expiry";
  if (is_true(catalogue, "changed")) text += ", changed since";
  return text;
}

std::string lists_text(const Json& lists) {
  std::string text;
  for (const auto& [list, count] : lists.items()) {
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.dump(),
                        list == "resourceTemplates" ? "resource templates" : safe_line(list));
  }
  return text.empty() && !lists.empty() ? "nothing" : text;
}

std::string metadata_text(const Json& metadata) {
  std::string text;
  for (const auto& [finding, count] : metadata.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.dump(), safe_line(finding));
  }
  return text;
}

std::string pins_text(const Json& pins) {
  if (pins.empty()) return {};
  std::string text =
      labelled_line("pins", fmt::format("\"{}\", {} known, {} withheld", text_of(pins, "pin"),
                                        number_of(pins, "known"), number_of(pins, "withheld")));
  for (const auto& notice : texts_of(pins, "notices"))
    text += labelled_line("", "withheld: " + notice);
  return text;
}

// What is known of what a server offers, from its entry in cellblock/status: a few lines, escaped;
// empty for a daemon that tells nothing of it.
std::string catalogue_text(const Json& server) {
  const Json catalogue = object_of(server, "catalogue");
  if (catalogue.empty()) return {};
  std::string text = labelled_line("era", text_of(server, "era") + " (declared)") +
                     labelled_line("catalogue", catalogue.contains("era") ? known_text(catalogue)
                                                                          : "nothing is known yet");
  if (auto lists = lists_text(object_of(catalogue, "lists")); !lists.empty())
    text += labelled_line("", "lists while no cell runs: " + lists);
  if (is_true(catalogue, "surveying")) text += labelled_line("", "it is being found out");
  const auto failed = text_of(catalogue, "failed");
  if (!failed.empty()) text += labelled_line("", "last try: " + failed);
  const Json metadata = object_of(catalogue, "metadata");
  if (!metadata.empty())
    text += labelled_line("", "metadata refused or mended: " + metadata_text(metadata));
  return text + pins_text(object_of(server, "pins"));
}

bool is_in_bytes(std::string_view name) {
  return name != "pids" && name != "open_files" && name != "cpu";
}

std::string value_text(std::string_view name, const Json& value) {
  if (!value.is_number()) return "?";
  if (!is_in_bytes(name)) return value.dump();
  const auto size = size_text(value.get<std::uint64_t>());
  return name.starts_with("io_") ? size + "/s" : size;
}

// A limit that nothing holds stands out; which of the kernel's means holds the others is in --json.
std::string limits_text(const Json& limits, Style style) {
  std::string text;
  for (const auto& [name, limit] : limits.items()) {
    if (!limit.is_object() || !limit.contains("value")) continue;
    const auto one = fmt::format("{} {}", safe_line(name), value_text(name, limit["value"]));
    const bool held = text_of(limit, "held_by") != "nothing";
    text += (text.empty() ? "" : ", ") +
            (held ? one : style.paint(Colour::bad, one + " (not enforced)"));
  }
  return text;
}

std::string egress_text(const Json& egress) {
  std::string text =
      labelled_line("egress", fmt::format("{}", fmt::join(texts_of(egress, "allow"), ", ")));
  std::string refused;
  // Named: items() only refers to it, and a temporary would be gone before the first turn.
  const Json reasons = object_of(egress, "refused");
  for (const auto& [reason, count] : reasons.items()) {
    refused += fmt::format(", {} {}", count.dump(), safe_line(reason));
  }
  const auto bytes = [&](const char* name) {
    return size_text(static_cast<std::uint64_t>(number_of(egress, name)));
  };
  return text +
         labelled_line("", fmt::format("{} connections, {} sent, {} received{}",
                                       number_of(egress, "connections_total"), bytes("sent"),
                                       bytes("received"),
                                       refused.empty() ? "" : "; refused: " + refused.substr(2)));
}

std::string workspace_text(const Json& workspace) {
  const auto allow = fmt::format("{}", fmt::join(texts_of(workspace, "allow"), ", "));
  return labelled_line("workspace", fmt::format("{}, {}", allow, text_of(workspace, "mode"))) +
         labelled_line("", "with the rights of " + text_of(workspace, "right"));
}

std::string program_text(const std::string& program) {
  return program == "server" ? std::string() : program + ", ";
}

std::string labels_text(const Json& cell) {
  std::string text;
  const Json labels = object_of(cell, "labels");
  for (const auto& [name, value] : labels.items()) {
    if (value.is_string()) {
      text += fmt::format(", {}={}", safe_line(name), safe_line(value.get<std::string>()));
    }
  }
  return text;
}

// Of a cell that is no session's alone.
std::string sharing_text(const Json& cell) {
  if (text_of(cell, "session") != "0" || text_of(cell, "program") != "server") return "";
  std::vector<std::string> sessions;
  for (const Json& session : cell.value("sessions", Json::array())) {
    if (session.is_string()) sessions.push_back(session.get<std::string>());
  }
  if (sessions.empty()) return ", kept for the next session";
  return fmt::format(", shared by {} {}", sessions.size() == 1 ? "session" : "sessions",
                     fmt::join(sessions, ", "));
}

// Only what is worth a look: a percent of the last ten seconds, and more.
std::string pressure_text(const Json& cell) {
  const auto found = cell.find("pressure");
  if (found == cell.end() || !found->is_object()) return "";
  std::string text;
  for (const char* name : {"memory", "cpu", "io"}) {
    const auto percent = found->find(name);
    if (percent == found->end() || !percent->is_number() || percent->get<double>() < 1) continue;
    text += fmt::format(", {:.0f} % waiting for {}", percent->get<double>(), name);
  }
  return text;
}

std::string usage_text(const Json& cell) {
  const auto size = [&](const char* name) {
    return size_text(static_cast<std::uint64_t>(std::max<std::int64_t>(number_of(cell, name), 0)));
  };
  std::string text;
  if (cell.contains("memory_bytes")) text += ", " + size("memory_bytes");
  if (cell.contains("memory_peak_bytes")) text += ", at most " + size("memory_peak_bytes");
  if (cell.contains("cpu_ms")) {
    const std::chrono::milliseconds used(number_of(cell, "cpu_ms"));
    text += ", CPU " + duration_text(used);
  }
  if (cell.contains("processes")) {
    text += fmt::format(", {} processes and threads", number_of(cell, "processes"));
  }
  return text + pressure_text(cell);
}

std::string cell_text(const Json& cell) {
  const auto uptime = duration_text(std::chrono::milliseconds(number_of(cell, "uptime_ms")));
  return labelled_line(
      "cell", fmt::format("{}: {}{}, up {}, {} calls{}{}{}{}", text_of(cell, "cell"),
                          program_text(text_of(cell, "program")), text_of(cell, "state"), uptime,
                          number_of(cell, "calls"), usage_text(cell),
                          cell.value("workspace", Json()) == Json(true) ? ", workspace" : "",
                          labels_text(cell), sharing_text(cell)));
}

std::string results_text(const Json& results) {
  if (text_of(results, "bounds") == "off") {
    return labelled_line("results", "whole: no bound is set on their length");
  }
  const auto whole = texts_of(results, "off_for");
  return whole.empty()
             ? ""
             : labelled_line("results", fmt::format("whole of {}", fmt::join(whole, ", ")));
}

std::string declared_text(const Json& declared) {
  std::string text;
  for (const auto& path : objects_of(declared, "paths")) {
    const auto source = text_of(path, "source");
    const auto target = text_of(path, "target");
    text += labelled_line(
        text.empty() ? "paths" : "",
        fmt::format("{} {}{}", text_of(path, "mode"),
                    source == target ? source : fmt::format("{} → {}", source, target),
                    text_of(path, "as") == "client" ? ", files stay the client's" : ""));
    if (path.contains("problem")) {
      text += labelled_line(
          "", fmt::format("  {}; remedy: {}", text_of(path, "problem"), text_of(path, "remedy")));
    }
  }
  if (declared.value("execute_writable", Json()) == Json(true)) {
    text += labelled_line("", "what it can write it may also execute");
  }
  text += labelled_line("variables",
                        fmt::format("{}", fmt::join(texts_of(declared, "environment"), ", ")));
  std::string secrets;
  for (const auto& secret : objects_of(declared, "secrets")) {
    secrets += fmt::format("{}{} ({})", secrets.empty() ? "" : ", ", text_of(secret, "name"),
                           text_of(secret, "kind"));
  }
  text += labelled_line("secrets", secrets);
  text += labelled_line("tools", fmt::format("{}", fmt::join(texts_of(declared, "tools"), ", ")));
  return text + results_text(object_of(declared, "results"));
}

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// What redaction found, whatever it did about it.
std::string found_text(const Json& server) {
  const Json found = object_of(server, "found");
  std::string text;
  for (const auto& [key, way] :
       {std::pair{"to_server", "to the server"}, {"to_host", "to the host"}}) {
    std::string counts;
    const Json found_there = object_of(found, key);  // items() refers to it
    for (const auto& [name, count] : found_there.items()) {
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", name, count.dump());
    }
    if (!counts.empty()) text += labelled_line(text.empty() ? "found" : "", way + (": " + counts));
  }
  return text;
}

std::string denied_text(const Json& server) {
  std::string text;
  for (const auto& kind : objects_of(server, "denied")) {
    text += labelled_line(text.empty() ? "refused" : "",
                          fmt::format("{} × {}", number_of(kind, "count"), text_of(kind, "what")));
    if (const auto reason = text_of(kind, "reason"); !reason.empty())
      text += labelled_line("", "  " + reason);
    if (const auto allow = text_of(kind, "allow"); !allow.empty()) {
      text += labelled_line("", "  to allow it: " + allow);
    }
  }
  return text;
}

// A dedicated id is what the words say less well.
std::string run_as_text(const Json& server) {
  const std::string reason = text_of(server, "run_as_reason");
  const std::string kind = text_of(server, "run_as");
  if (!reason.empty()) return fmt::format("{} ({})", kind, reason);
  return kind == "own" ? "a dedicated uid" : kind;
}

}  // namespace

std::string denied_summary(const Json& server, Style style, const std::string& of) {
  const auto total = number_of(server, "denied_total");
  if (total == 0) return {};
  const auto name = text_of(server, "name");
  return fmt::format("{} {}: {} (\"cellblock logs {} --denied{}\")\n",
                     style.paint(Colour::weak, "refused"), name,
                     counted(total, "call or connection", "calls or connections"), name, of);
}

std::string server_details(const Json& server, Style style) {
  std::string text = "\n";
  if (const auto image = text_of(server, "image"); !image.empty()) {
    text += labelled_line("image", image);
  }
  text += labelled_line("profile",
                        fmt::format("{}, memory that is written and executed: {}",
                                    text_of(server, "profile"), text_of(server, "write_exec")));
  text += labelled_line("runs as",
                        fmt::format("{}, home {}", run_as_text(server), text_of(server, "home")));
  if (text_of(server, "sharing") == "per-user") {
    text += labelled_line("cells", "one for all sessions of a user");
  }
  text += declared_text(object_of(server, "declared"));
  if (server.contains("workspace")) text += workspace_text(object_of(server, "workspace"));
  if (server.contains("egress")) text += egress_text(object_of(server, "egress"));
  text += labelled_line("limits", limits_text(object_of(server, "limits"), style));
  for (const auto& cell : objects_of(server, "cells")) text += cell_text(cell);
  return text + catalogue_text(server) + found_text(server) + denied_text(server);
}

}  // namespace cellblock::cli
