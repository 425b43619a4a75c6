#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/launcher/prepare/host_tree.h"
#include "supervisor/os/sys.h"

namespace cellblock::launcher {

/// The parts of the host's file system that hosts may pass directories of: copies of the mount
/// trees below the static prefixes of all patterns, as they are when cells are prepared. What is
/// mounted there later is not seen.
class WorkspaceRoots {
 public:
  /// `directory`: of the launcher's own root, where no other has its trees.
  explicit WorkspaceRoots(std::string directory) : directory_(std::move(directory)) {}

  /// A prefix that does not exist is only remembered.
  SysResult<void> attach(const HostTree& host, const Workspace& workspace);

  struct Place {
    std::string root;   ///< "/trees/1/workspaces/0"
    std::string below;  ///< from there; "." for itself
    bool operator==(const Place&) const = default;
  };
  /// Where the host's `path` is to be looked for; nullopt when no pattern allows it.
  std::optional<Place> find(const Workspace& workspace, std::string_view path) const;

  /// Whether `path` is one that a pattern allows, in a tree that was not there then.
  bool began_without(const Workspace& workspace, std::string_view path) const;

 private:
  std::string place_of(std::size_t index) const;
  SysResult<void> attach_at(const HostTree& host, const std::string& prefix,
                            const std::string& place) const;

  std::string directory_;
  std::vector<std::string> prefixes_;
  std::vector<std::string> missing_;
};

}  // namespace cellblock::launcher
