#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "supervisor/os/sys.h"

namespace cellblock::launcher {

/// Where the mount trees hang that the cells of one configuration are made from: a small file
/// system at /trees/N of the launcher's own root. All are unmounted when the object goes; cells
/// have copies. The directory stays, to be used again: to remove it would unmount what hangs there
/// in every namespace, that of a cell in its set-up included.
class TreeStore {
 public:
  TreeStore() = default;  ///< none
  /// `number`: not that of another that is still there.
  static SysResult<TreeStore> make(std::uint64_t number);

  TreeStore(TreeStore&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TreeStore& operator=(TreeStore&& other) noexcept;
  ~TreeStore() { remove(); }

  /// "/trees/1"
  const std::string& path() const { return path_; }

 private:
  explicit TreeStore(std::string path) : path_(std::move(path)) {}
  void remove();

  std::string path_;
};

}  // namespace cellblock::launcher
