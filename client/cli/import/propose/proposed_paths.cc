#include "client/cli/import/propose/proposed_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "client/cli/common/secret_paths.h"

namespace cellblock::cli {
namespace {

constexpr std::array<std::string_view, 4> system_places = {"/usr", "/bin", "/sbin", "/workspace"};
constexpr std::array<std::string_view, 5> forbidden_wholes = {"/", "/etc", "/var", "/home", "/opt"};
constexpr std::array<std::string_view, 6> forbidden_trees = {"/proc", "/sys", "/dev",
                                                             "/run",  "/tmp", "/home/mcp"};

constexpr std::array<std::string_view, 3> delicate_trees = {"/etc", "/root", "/boot"};

bool is_below(std::string_view path, std::string_view tree) {
  return path.starts_with(tree) && (path.size() == tree.size() || path[tree.size()] == '/');
}

bool is_seen_anyway(std::string_view path) {
  return path.starts_with("/lib") ||
         std::ranges::any_of(system_places, [&](auto tree) { return is_below(path, tree); });
}

bool is_forbidden(std::string_view path) {
  return std::ranges::find(forbidden_wholes, path) != forbidden_wholes.end() ||
         std::ranges::any_of(forbidden_trees, [&](auto tree) { return is_below(path, tree); });
}

// Somebody else wrote what is imported: what decides about the host, or is anybody's secret, is not
// opened for the asking.
bool is_delicate(std::string_view path) {
  return is_secret_path(path) ||
         std::ranges::any_of(delicate_trees, [&](auto tree) { return is_below(path, tree); });
}

// As a configuration may name it: ":" would be a target's.
bool is_normal(const std::string& path) {
  return path.find(':') == std::string::npos && path.find("//") == std::string::npos &&
         (path + "/").find("/./") == std::string::npos &&
         (path + "/").find("/../") == std::string::npos;
}

std::vector<ProposedPath>& entries_for(PathUse use, Proposal& proposal) {
  return use == PathUse::write ? proposal.write : proposal.read;
}

bool covers(const std::vector<ProposedPath>& entries, const std::string& path) {
  return std::ranges::any_of(
      entries, [&](const auto& one) { return one.is_there && is_below(path, one.path); });
}

bool is_among(const std::vector<ProposedPath>& entries, const std::string& path) {
  return std::ranges::find(entries, path, &ProposedPath::path) != entries.end();
}

void add(const ProposedPath& entry, PathUse use, Proposal& proposal) {
  if (is_among(proposal.write, entry.path) || covers(proposal.write, entry.path)) return;
  if (use == PathUse::write) {
    std::erase_if(proposal.read, [&](const auto& one) { return one.path == entry.path; });
  }
  auto& entries = entries_for(use, proposal);
  if (!is_among(entries, entry.path) && !covers(entries, entry.path)) entries.push_back(entry);
}

}  // namespace

void propose_path(const std::string& path, PathUse use, const std::string& note,
                  const MachineView& machine, Proposal& proposal) {
  std::string place = path;
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  const bool is_own = !proposal.program.empty() && is_below(place, proposal.program);
  if (is_own || is_seen_anyway(place)) return;
  if (is_forbidden(place) || !is_normal(place)) {
    proposal.todos.push_back(fmt::format(
        "{} ({}) cannot be in a cell at that place: name another directory", place, note));
    return;
  }
  if (is_delicate(place)) {
    proposal.todos.push_back(fmt::format(
        "{} ({}) may hold secrets, or is the system's: no server is given it by itself; name a "
        "directory that holds what the server needs and nothing else",
        place, note));
    return add({.path = place, .note = note, .is_there = false}, use, proposal);
  }
  const bool is_there = machine.kind_of(place) != PathKind::absent;
  if (!is_there) {
    proposal.todos.push_back(fmt::format(
        "{} ({}) is not there, or cannot be seen by you: make it, or take it out", place, note));
  }
  add({.path = place, .note = note, .is_there = is_there}, use, proposal);
}

}  // namespace cellblock::cli
