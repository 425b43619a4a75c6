#include "policy/sandbox/workspace_match.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "policy/config/path_rules.h"

namespace cellblock {
namespace {

constexpr std::string_view any_depth = "**";

using Components = std::vector<std::string_view>;

// Of a normalised path.
Components components_of(std::string_view path) {
  Components parts;
  while (path.size() > 1) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    parts.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return parts;
}

// Both matchings go back to the last wildcard only: what an earlier one took can stay taken, for a
// later one could take all that it would give back. So they cannot take exponential time.

bool name_matches(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  std::size_t at = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  for (std::size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resume = i;
    } else if (at < pattern.size() && pattern[at] == name[i]) {
      ++at, ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

bool components_match(std::span<const std::string_view> pattern,
                      std::span<const std::string_view> path) {
  std::size_t at = 0;
  std::optional<std::size_t> star;
  std::size_t resume = 0;
  for (std::size_t i = 0; i < path.size();) {
    if (at < pattern.size() && pattern[at] == any_depth) {
      star = at++;
      resume = i;
    } else if (at < pattern.size() && name_matches(pattern[at], path[i])) {
      ++at, ++i;
    } else if (star && !path[resume].starts_with('.')) {
      at = *star + 1;
      i = ++resume;
    } else {
      return false;
    }
  }
  return std::ranges::all_of(pattern.subspan(at),
                             [](std::string_view part) { return part == any_depth; });
}

}  // namespace

bool workspace_allows(const Workspace& workspace, std::string_view absolute_path) {
  if (path_problem(absolute_path)) return false;
  const Components path = components_of(absolute_path);
  return std::ranges::any_of(workspace.allow, [&](const std::string& pattern) {
    return !pattern_problem(pattern) && components_match(components_of(pattern), path);
  });
}

std::string static_prefix(std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return std::string(pattern);
  const std::size_t slash = pattern.rfind('/', star);
  return slash == 0 ? "/" : std::string(pattern.substr(0, slash));
}

std::optional<std::string> pattern_problem(std::string_view pattern) {
  if (auto problem = path_problem(pattern)) return problem;
  if (static_prefix(pattern) == "/") return "could be anywhere: its first component is not fixed";
  for (const std::string_view part : components_of(pattern)) {
    if (part != any_depth && part.find(any_depth) != std::string_view::npos) {
      return "has \"**\" within a component";
    }
  }
  return std::nullopt;
}

}  // namespace cellblock
