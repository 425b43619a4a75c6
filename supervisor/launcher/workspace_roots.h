#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config.h"
#include "supervisor/kernel/sys.h"

namespace cellblock::launcher {

/// The parts of the host's file system that hosts may pass directories of: copies of the mount
/// trees below the static prefixes of all patterns, as they are when the launcher starts, at
/// /workspaces/N of its own root. What is mounted there later is not seen.
class WorkspaceRoots {
 public:
  /// Before forget_host(). `host`: its root. A prefix that does not exist is only remembered.
  SysResult<void> attach(int host, const Workspace& workspace);

  struct Place {
    std::string root;   ///< "/workspaces/0"
    std::string below;  ///< from there; "." for itself
    bool operator==(const Place&) const = default;
  };
  /// Where `path` of the host is to be looked for; nullopt when no pattern allows it.
  std::optional<Place> find(const Workspace& workspace, std::string_view path) const;

  /// Whether `path` is one that a pattern allows, in a tree that was not there at the start.
  bool began_without(const Workspace& workspace, std::string_view path) const;

 private:
  std::vector<std::string> prefixes_;
  std::vector<std::string> missing_;
};

}  // namespace cellblock::launcher
