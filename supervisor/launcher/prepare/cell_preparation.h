#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/launcher/prepare/cell_template.h"
#include "supervisor/launcher/prepare/host_tree.h"
#include "supervisor/launcher/prepare/owner_trees.h"
#include "supervisor/launcher/prepare/state_directory.h"
#include "supervisor/launcher/prepare/workspace_roots.h"
#include "supervisor/os/sys.h"

/// What is made once for all cells of a configuration, before the first of them starts.
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

/// cellblock's programs that live in cells, opened by the supervisor while it could reach them.
struct OwnPrograms {
  Fd gateway;
  Fd audit_writer;
  Fd egress;
  Fd probe;
  Fd http;
  Fd metrics;
  Fd log;  ///< no program: LogPipes' channel, or none
};

/// What is made for a configuration before it holds, from what the host's file system has then.
struct Preparation {
  TreeStore trees;
  OwnerTrees owners;
  WorkspaceRoots workspaces;
  std::vector<CellTemplate> servers;  ///< as in the configuration
  CellTemplate gateway;
  CellTemplate audit_writer;
  CellTemplate egress;   ///< empty where no server has egress
  CellTemplate http;     ///< empty without [listen.http]
  CellTemplate metrics;  ///< empty without [metrics]
};

/// Why none could be made: not for a server's sake.
struct Unprepared {
  std::string text;
  SetupFailure failure{.step = SetupStep::prepare};

  // As they come out of what is done for it.
  Unprepared(const SysError& error)  // NOLINT(google-explicit-constructor)
      : text(error.text()), failure{.step = SetupStep::prepare, .error = error.number} {}
  Unprepared(Error error)  // NOLINT(google-explicit-constructor)
      : text(std::move(error.text)), failure{.step = SetupStep::prepare, .error = EINVAL} {}
  Unprepared(const std::string& whose, const SetupFailure& its)
      : text(whose + ": " + SysError{"prepare", its.error}.text()), failure(its) {}

  operator Error() const { return {text}; }  // NOLINT(google-explicit-constructor)
};

template <class T>
using PreparedResult = std::expected<T, Unprepared>;

/// The sources of what cells see.
struct Sources {
  const HostTree& host;
  int owner_mounts = -1;            ///< owner_trees.h
  const OwnerTrees& owners_before;  ///< of the configuration that holds
};

/// Gives the pairs of server and user whose paths are mounted with another owner the ids that the
/// mounts were made with.
Result<void> reserve_owner_ids(StateDirectory& state, const Config& config);

/// One blueprint for each server and for each program of cellblock. A server whose paths cannot be
/// prepared is kept with its failure; a removed one is kept without paths. `number`: of its
/// TreeStore. A failure leaves nothing behind.
PreparedResult<Preparation> prepare_cells(const Config& config, const Sources& sources,
                                          const OwnPrograms& programs, std::uint64_t number);

}  // namespace cellblock::launcher
