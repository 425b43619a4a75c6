#include "policy/failures/network_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace cellblock {
namespace {

// getaddrinfo(3) by its names and in its words, and what Node's fetch says of all of it.
constexpr std::array<std::string_view, 6> name_words{
    "EAI_AGAIN",    "ENOTFOUND",   "ame resolution", "ame or service not known",
    "fetch failed", "getaddrinfo",
};
// A connection to an address.
constexpr std::array<std::string_view, 3> address_words{"connect EACCES", "ENETUNREACH",
                                                        "etwork is unreachable"};

bool contains_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [text](std::string_view word) { return text.contains(word); });
}

bool tells_of_the_network(std::string_view report) {
  return contains_any(report, name_words) || contains_any(report, address_words);
}

std::string without_network(const Server& server, std::string_view reach, std::string_view allow) {
  if (!allow.empty()) {
    return fmt::format(
        "the cell of server {0} {1}; {2} allows the name that it asked for last, and `cellblock "
        "learn {0}` finds all",
        server.name, reach, allow);
  }
  return fmt::format(
      "the cell of server {0} {1}; where it may reach more, network = \"egress\" with egress.allow "
      "names what, and `cellblock learn {0}` finds it",
      server.name, reach);
}

}  // namespace

std::string network_advice_for_report(const Server& server, std::string_view report,
                                      std::string_view allow) {
  if (server.network == NetworkMode::host || !tells_of_the_network(report)) return {};
  switch (server.network) {
    case NetworkMode::none:
      return without_network(server, "has no network (network = \"none\")", allow);
    case NetworkMode::loopback:
      return without_network(server, "reaches its own processes only (network = \"loopback\")", {});
    case NetworkMode::egress:
      return fmt::format(
          "the cell of server {0} reaches what egress.allow names; `cellblock logs {0} --denied` "
          "lists what it was refused, with the line that would allow it",
          server.name);
    case NetworkMode::host:
      break;
  }
  return {};
}

}  // namespace cellblock
