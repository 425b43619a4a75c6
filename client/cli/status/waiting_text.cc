#include "client/cli/status/waiting_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

/// A status is for looking at all; the list of calls has a command of its own.
constexpr std::size_t most_told = 5;
constexpr std::string_view label = "waiting";

std::string line_of(const Json& call, std::uint32_t uid, Style style, std::size_t width) {
  const auto line =
      wrapped(fmt::format("{} {}: {} {}, {} s left (\"cellblock approve show {}.{}\")\n", label,
                          text_of(call, "server"), text_of(call, "method"), text_of(call, "name"),
                          number_of(call, "left_ms") / 1000, uid, number_of(call, "approval")),
              width, 4);
  return style.paint(Colour::weak, label) + line.substr(label.size());
}

}  // namespace

std::string waiting_text(std::string_view approvals_json, std::uint32_t uid,
                         std::string_view server, Style style, std::size_t width) {
  const auto answer = Json::parse(approvals_json, nullptr, false);
  std::string text;
  std::size_t found = 0;
  for (const auto& call : objects_of(answer, "approvals")) {
    if (!server.empty() && text_of(call, "server") != server) continue;
    if (++found <= most_told) text += line_of(call, uid, style, width);
  }
  if (found > most_told) {
    text += fmt::format("{} {} more (\"cellblock approve\" lists them)\n",
                        style.paint(Colour::weak, label), found - most_told);
  }
  return text;
}

}  // namespace cellblock::cli
