#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/os/sys.h"

namespace cellblock::launcher {

/// The ID-mapped mounts of a configuration (Server::owner_mounts), attached in the launcher's own
/// root, from where templates are made. The reader of the configuration made them: the
/// launcher cannot.
class OwnerTrees {
 public:
  OwnerTrees() = default;
  /// `directory`: of a tree store; made if there is anything to attach.
  explicit OwnerTrees(std::string directory) : directory_(std::move(directory)) {}

  /// `line`: a socket with a record for each, in the configuration's order, and nothing else. One
  /// without any: what `before` has is copied. Of one that does not come otherwise there is none.
  SysResult<void> attach(const Config& config, int line, const OwnerTrees& before);

  /// A path of the launcher's own root; empty: there is none, and the host's path is what it is.
  std::string place(const Bind& bind, const OwnerMount& mount) const;

  /// An empty directory that no cell may enter; there where anything is attached.
  std::string closed_place() const { return directory_ + "/closed"; }

 private:
  /// Source on the host; uid and gid on disk; the cell's id.
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t>;
  static Key key_of(const Bind& bind, const OwnerMount& mount);
  SysResult<void> attach_one(const Bind& bind, const OwnerMount& mount, Fd brought,
                             const OwnerTrees& before);

  std::string directory_;
  std::map<Key, std::string> places_;
};

}  // namespace cellblock::launcher
