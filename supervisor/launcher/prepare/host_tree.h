#pragma once

#include "supervisor/os/sys.h"

/// Mounts by descriptor, and the host's file system to copy them from.
namespace cellblock::launcher {

// The kernel's descriptor-based mount calls, checked. They need CAP_SYS_ADMIN in the mount
// namespace's own user namespace.

/// A detached copy of the mount tree at `path` below `directory`, mounts inside it included. The
/// path is resolved as if `directory` were the root and must not go through a symbolic link
/// (ELOOP).
SysResult<Fd> clone_tree_at(int directory, const char* path);

/// A detached copy of the mount tree whose root is this very descriptor.
SysResult<Fd> clone_tree(int descriptor);

enum class Reach : std::uint8_t { this_mount, whole_tree };

/// Adds MOUNT_ATTR_* to a detached tree.
SysResult<void> add_attributes(int tree, std::uint64_t attributes, Reach reach);

/// Ends what ties a detached tree to the mounts that it was copied from: what is mounted or
/// unmounted on one side is not on the other (mount_namespaces(7), shared subtrees).
SysResult<void> leave_peers(int tree);

/// Puts a detached tree at `path` below `directory`, or at `directory` itself when path is "".
SysResult<void> attach_tree(int tree, int directory, const char* path);

/// openat2 with the same strictness as clone_tree_at.
SysResult<Fd> open_strictly(int directory, const char* path, int flags);

/// Likewise, but symbolic links are followed, as they are meant where `directory` is the root.
SysResult<Fd> open_within(int directory, const char* path, int flags);

/// The host's file system while something is copied from it: nothing of it is left when the object
/// is gone, but what was cloned.
class HostTree {
 public:
  /// What lies at this descriptor in the launcher's own mount namespace.
  explicit HostTree(Fd root) : root_(std::move(root)) {}

  /// All mounts of another mount namespace in the launcher's user namespace, without processes.
  /// Only a process inside may clone its mounts, so a stage (clone_child.h) enters it for each; the
  /// launcher stays where it is.
  static SysResult<HostTree> of(Fd mounts);

  /// To read files from.
  int root() const { return root_.get(); }

  /// See clone_tree_at() below.
  SysResult<Fd> clone(const char* path) const;

 private:
  HostTree(Fd root, Fd mounts) : root_(std::move(root)), mounts_(std::move(mounts)) {}

  Fd root_;
  Fd mounts_;  ///< none: the launcher's own
};

}  // namespace cellblock::launcher
