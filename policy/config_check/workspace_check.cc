#include "policy/config_check/workspace_check.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "policy/config/path_rules.h"
#include "policy/config_check/value_check.h"
#include "policy/sandbox/workspace_match.h"

namespace cellblock {
namespace {

constexpr std::size_t most_workspace_patterns = 64;
constexpr std::string_view allowed =
    "allowed: \"/home/*/src/**\" and the like: absolute, the first part fixed, * within a part, ** "
    "as a part";

bool allows(const std::string& pattern, std::string_view path) {
  return workspace_allows({{pattern}, Access::read}, path);
}

// A match at or above it, so that it would be seen.
bool reaches_above(const std::string& pattern, const std::string& path) {
  for (std::size_t end = path.size(); end != 0; end = path.rfind('/', end - 1)) {
    if (allows(pattern, std::string_view(path).substr(0, end))) return true;
  }
  return false;
}

// A match at or below it: then some beginning of the pattern matches it.
bool reaches_below(const std::string& pattern, const std::string& path) {
  for (std::size_t end = pattern.size(); end != 0; end = pattern.rfind('/', end - 1)) {
    if (allows(pattern.substr(0, end), path)) return true;
  }
  return false;
}

std::optional<std::string> exposure_of(const std::string& pattern,
                                       const std::vector<ProtectedPath>& protected_paths) {
  for (const ProtectedPath& own : protected_paths) {
    const bool inside =
        own.extent == ProtectedPath::Extent::directory && reaches_below(pattern, own.path);
    if (inside || reaches_above(pattern, own.path)) {
      return fmt::format("could show {} ({}) to the cell", own.what, own.path);
    }
  }
  return std::nullopt;
}

std::optional<std::string> problem_of(const std::string& pattern,
                                      const std::vector<ProtectedPath>& protected_paths) {
  if (auto problem = pattern_problem(pattern)) return problem;
  if (auto problem = source_problem(static_prefix(pattern))) {
    return "cannot be given to a cell: " + *problem;
  }
  return exposure_of(pattern, protected_paths);
}

// The kernel tells real paths only, and the launcher keeps what is there when it starts.
std::optional<std::string> doubt_about(const std::string& prefix, const HostFacts& facts,
                                       PathFindings& findings) {
  const auto found = facts.sources.find(prefix);
  if (found == facts.sources.end()) return std::nullopt;
  const SourceFacts& source = found->second;
  if (source.is_unanswered) {
    findings.is_unanswered = true;
    findings.broken = fmt::format("workspace: {} does not answer within 2 s", prefix);
    return fmt::format("this server does not start: {} does not answer within 2 s", prefix);
  }
  if (source.kind == PathKind::missing) {
    return fmt::format(
        "nothing matches: {} does not exist or cannot be reached; make it, then start "
        "cellblockd again",
        prefix);
  }
  if (source.kind != PathKind::directory) {
    findings.broken = fmt::format("workspace: {} is no directory", prefix);
    return fmt::format("this server does not start: {} is no directory", prefix);
  }
  if (source.resolved == prefix) return std::nullopt;
  findings.broken = fmt::format("workspace: {} is reached through a symbolic link", prefix);
  return fmt::format(
      "this server does not start: {} is reached through a symbolic link; allowed: the real path, "
      "{}",
      prefix, source.resolved);
}

// A pattern that matches nothing leaves the others. Cells go on where others can change what is
// there, as of a bind.
void say_doubt(const Scope& scope, const TextAt& pattern, const std::string& doubt,
               const PathFindings& found) {
  const std::string text = fmt::format("\"{}\": {}", pattern.value, doubt);
  if (found.broken.empty()) return scope.warning(pattern.at, "allow", text);
  if (!found.others_can_change) return scope.broken(pattern.at, "allow", text);
  scope.complaints.broken(scope.file, pattern.at, scope.prefix + "allow", text);
}

// Dot names are passed over in the path of the directory alone: what is in it is all visible.
bool shows_a_home(const std::string& pattern) {
  if (allows(pattern, "/home/somebody") || allows(pattern, "/root")) return true;
  return pattern.starts_with("/home/") && pattern.rfind('/') == std::string_view("/home").size();
}

std::optional<std::string> doubt_about_extent(const std::string& pattern) {
  if (!shows_a_home(pattern)) return std::nullopt;
  return "lets a host pass a whole home directory, with .ssh and all else that is in it; better: a "
         "directory of projects, like \"/home/*/src/**\"";
}

}  // namespace

std::optional<Workspace> check_workspace(const Scope& scope, const ServerText& text,
                                         const PathsAround& around, PathFindings& found) {
  if (!text.workspace) return std::nullopt;
  const Scope here = scope.below("workspace");
  Workspace workspace;
  check_choice(here, "mode", text.workspace->mode, workspace.access);
  const TextList& patterns = text.workspace->allow;
  const bool counted = !patterns.empty() && patterns.size() <= most_workspace_patterns;
  if (!counted && !here.mentioned("allow")) {
    here.error(text.workspace->at, "allow",
               fmt::format("has {} patterns, but 1 to {} are needed; {}", patterns.size(),
                           most_workspace_patterns, allowed));
    return workspace;
  }
  for (const TextAt& pattern : patterns) {
    const std::string prefix = static_prefix(pattern.value);
    if (!who_can_change(prefix, around).empty()) found.others_can_change = true;
    if (auto problem = problem_of(pattern.value, around.protected_paths)) {
      here.error(pattern.at, "allow",
                 fmt::format("\"{}\" {}; {}", pattern.value, *problem, allowed));
    } else if (auto doubt = doubt_about(prefix, around.facts, found)) {
      say_doubt(here, pattern, *doubt, found);
    } else if (auto extent = doubt_about_extent(pattern.value)) {
      here.warning(pattern.at, "allow", fmt::format("\"{}\" {}", pattern.value, *extent));
    }
    workspace.allow.push_back(pattern.value);
  }
  return workspace;
}

}  // namespace cellblock
