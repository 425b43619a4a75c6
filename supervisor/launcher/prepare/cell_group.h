#pragma once

#include <memory>
#include <string>
#include <vector>

#include "supervisor/launcher/prepare/group_files.h"
#include "supervisor/os/sys.h"

/// One control group for each cell, below the directory that the supervisor handed over. Not
/// thread-safe.
namespace cellblock::launcher {

/// Removes groups. One that is busy (its last process is on its way out of the kernel) is tried
/// again with the next.
class GroupRemover {
 public:
  explicit GroupRemover(Fd cells) : cells_(std::move(cells)) {}
  void remove(std::string name);
  int cells() const { return cells_.get(); }

 private:
  Fd cells_;
  std::vector<std::string> busy_;
};

/// A cell's group. Removed with the object, when the cell must have ended.
class CellGroup {
 public:
  CellGroup() = default;  ///< none
  CellGroup(std::shared_ptr<GroupRemover> remover, std::string name, Fd directory);
  CellGroup(CellGroup&&) noexcept = default;
  CellGroup& operator=(CellGroup&& other) noexcept;
  ~CellGroup();

  /// For clone3's CLONE_INTO_CGROUP; -1: none.
  int descriptor() const { return directory_.get(); }
  /// SIGKILL to everything in it, stopped or forking or not.
  void kill() const;
  GroupUsage usage() const;
  GroupUsageNow usage_now() const;

 private:
  void remove();
  std::string text_of(const char* file) const;

  std::shared_ptr<GroupRemover> remover_;
  std::string name_;
  Fd directory_;
};

/// Makes them.
class CellGroups {
 public:
  CellGroups() = default;  ///< no cell gets one
  /// `cells`: the directory (wire::launcher_fd::cgroup).
  explicit CellGroups(Fd cells) : remover_(std::make_shared<GroupRemover>(std::move(cells))) {}

  /// With its limits, each of them written and read back.
  SysResult<CellGroup> make(const std::string& server, const std::vector<GroupSetting>& settings);

 private:
  SysResult<std::string> make_next(const std::string& server);

  std::shared_ptr<GroupRemover> remover_;
  std::uint64_t last_number_ = 0;
};

}  // namespace cellblock::launcher
