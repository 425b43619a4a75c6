#include "policy/config/broken_parts.h"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "policy/base/printable.h"

namespace cellblock {
namespace {

constexpr std::size_t longest_cause = 1000;

std::string cause_of(const Server& server) {
  if (server.breakage.is_broken()) return text_of(server.breakage);
  return server.found.broken.empty() ? server.found.no_command : server.found.broken;
}

bool is_declared(const Server& server) { return !server.removed && server.enabled; }

// "listen.http.token.ci" is the token ci.
std::string spoken(std::string_view part) {
  if (part == part_of_clients) return "run_as = \"client\"";
  const std::size_t dot = part.rfind('.');
  const std::string_view kind = part.starts_with("role.") ? "role" : "token";
  return fmt::format("{} {}", kind, part.substr(dot + 1));
}

}  // namespace

std::vector<PartLeftOut> broken_parts(const Config& config) {
  std::vector<PartLeftOut> parts;
  for (const Server& server : config.servers) {
    std::string cause = cause_of(server);
    if (cause.empty() || !is_declared(server)) continue;
    parts.push_back({"server " + server.name, printable(cause, longest_cause)});
  }
  for (const BrokenPart& part : config.broken) {
    parts.push_back({spoken(part.name), printable(text_of(part.breakage), longest_cause)});
  }
  return parts;
}

std::vector<std::string> journal_lines(const Config& config) {
  std::vector<std::string> lines;
  for (const PartLeftOut& part : broken_parts(config)) {
    const bool is_server = part.name.starts_with("server ");
    const std::string name =
        is_server ? fmt::format("[MCP:stdio:{}]", part.name.substr(7)) : part.name;
    lines.push_back(fmt::format("{} is broken: {}", name, part.cause));
  }
  return lines;
}

}  // namespace cellblock
