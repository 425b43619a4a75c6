#pragma once

#include "supervisor/os/sys.h"

namespace cellblock::launcher {

/// The host's file system while something is copied from it: nothing of it is left when the object
/// is gone, but what was cloned.
class HostTree {
 public:
  /// What lies at this descriptor in the launcher's own mount namespace.
  explicit HostTree(Fd root) : root_(std::move(root)) {}

  /// All of another mount namespace of the launcher's user namespace, with nobody in it. Only
  /// whoever is inside may clone its mounts, so a stage (run_in_namespace.h) enters it for each;
  /// the launcher stays where it is.
  static SysResult<HostTree> of(Fd mounts);

  /// To read files from.
  int root() const { return root_.get(); }

  /// As clone_tree_at() does (mounts.h).
  SysResult<Fd> clone(const char* path) const;

 private:
  HostTree(Fd root, Fd mounts) : root_(std::move(root)), mounts_(std::move(mounts)) {}

  Fd root_;
  Fd mounts_;  ///< none: the launcher's own
};

}  // namespace cellblock::launcher
