#include "supervisor/launcher/prepare/workspace_roots.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "policy/sandbox/workspace_match.h"
#include "supervisor/launcher/prepare/host_tree.h"

namespace cellblock::launcher {
namespace {

// What stands after `prefix` and a slash; "." for the prefix itself.
std::optional<std::string> below(std::string_view path, std::string_view prefix) {
  if (path == prefix) return ".";
  if (!path.starts_with(prefix) || path[prefix.size()] != '/') return std::nullopt;
  return std::string(path.substr(prefix.size() + 1));
}

}  // namespace

std::string WorkspaceRoots::place_of(std::size_t index) const {
  return directory_ + "/" + std::to_string(index);
}

SysResult<void> WorkspaceRoots::attach_at(const HostTree& host, const std::string& prefix,
                                          const std::string& place) const {
  const Fd tree = CELLBLOCK_TRY(host.clone(prefix.c_str() + 1));
  if (mkdir(directory_.c_str(), 0755) < 0 && errno != EEXIST) return sys_fail("mkdir");
  if (mkdir(place.c_str(), 0755) < 0) return sys_fail("mkdir");
  return attach_tree(tree.get(), AT_FDCWD, place.c_str());
}

SysResult<void> WorkspaceRoots::attach(const HostTree& host, const Workspace& workspace) {
  for (const std::string& pattern : workspace.allow) {
    const std::string prefix = static_prefix(pattern);
    if (std::ranges::find(prefixes_, prefix) != prefixes_.end()) continue;
    const auto attached = attach_at(host, prefix, place_of(prefixes_.size()));
    const bool missing = !attached && attached.error().number == ENOENT;
    if (!attached && !missing) return attached;
    (missing ? missing_ : prefixes_).push_back(prefix);
  }
  return {};
}

std::optional<WorkspaceRoots::Place> WorkspaceRoots::find(const Workspace& workspace,
                                                          std::string_view path) const {
  if (!workspace_allows(workspace, path)) return std::nullopt;
  for (std::size_t i = 0; i < prefixes_.size(); ++i) {
    if (auto rest = below(path, prefixes_[i])) return Place{place_of(i), std::move(*rest)};
  }
  return std::nullopt;
}

bool WorkspaceRoots::began_without(const Workspace& workspace, std::string_view path) const {
  return workspace_allows(workspace, path) &&
         std::ranges::any_of(
             missing_, [&](const std::string& prefix) { return below(path, prefix).has_value(); });
}

}  // namespace cellblock::launcher
