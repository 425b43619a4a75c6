#include "policy/failures/refusal_advice.h"

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

namespace {

constexpr std::array<std::string_view, 2> eacces_words{"EACCES", "ermission denied"};
constexpr std::array<std::string_view, 2> erofs_words{"EROFS", "ead-only file system"};

PathAdvice advice_of(const Server& server, std::size_t bind, const CellClient& user,
                     const Identity& identity) {
  const Bind& declared = server.binds[bind];
  PathAdvice advice{.target = declared.target};
  const SourceAccess access = source_access(server, bind, user, identity);
  if (!access.allowed) {
    advice.on_eacces = fmt::format("{}; {}", access.problem, access.remedy);
  }
  if (declared.access == Access::read) {
    advice.on_erofs = fmt::format(
        "{} is declared under read, so cells cannot change it: declare it under write of server "
        "{}, if they may",
        declared.source, server.name);
  }
  return advice;
}

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [text](std::string_view word) { return text.contains(word); });
}

// "/data" is not in "/database".
bool names_path(std::string_view text, std::string_view path) {
  for (std::size_t at = text.find(path); at != std::string_view::npos;
       at = text.find(path, at + 1)) {
    const std::size_t end = at + path.size();
    const bool is_whole = end == text.size() || text[end] == '/' ||
                          std::string_view("'\"`\\ ,:;)]").contains(text[end]);
    if (is_whole) return true;
  }
  return false;
}

}  // namespace

std::vector<PathAdvice> path_advice_of(const Server& server, const CellClient& user,
                                       const Identity& identity) {
  std::vector<PathAdvice> all;
  for (std::size_t i = 0; i < server.binds.size(); ++i) {
    PathAdvice advice = advice_of(server, i, user, identity);
    if (!advice.on_eacces.empty() || !advice.on_erofs.empty()) all.push_back(std::move(advice));
  }
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const PathAdvice& one) { return one.target.size(); });
  return all;
}

std::string_view advice_for_report(const std::vector<PathAdvice>& advice, std::string_view report) {
  if (advice.empty()) return {};
  const bool is_eacces = has_any(report, eacces_words);
  const bool is_erofs = has_any(report, erofs_words);
  if (!is_eacces && !is_erofs) return {};
  for (const PathAdvice& one : advice) {
    const std::string& text = is_eacces ? one.on_eacces : one.on_erofs;
    if (!text.empty() && names_path(report, one.target)) return text;
  }
  return {};
}

}  // namespace cellblock
