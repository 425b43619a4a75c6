#pragma once

#include <string>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/os/sys.h"

/// The ID-mapped mounts of declared paths (Server::owner_mounts). The reader of the configuration
/// makes them with CAP_SYS_ADMIN and passes them to the launcher, which has no such right.
namespace cellblock::daemon {

/// Gives each owner mount the id of the client's cells, by the list in the state directory. An
/// owner that is not in the list gets the next id, which the launcher adds to it.
Result<void> assign_owner_ids(Config& config);

struct MadeMount {
  std::string server;
  OwnerMount mount;
  Fd tree;              ///< detached; not valid: see `problem`
  std::string problem;  ///< why the mount failed: the client's cells have no owner's rights there
};

/// Makes all owner mounts of a configuration whose ids are assigned. Opens each source anew: the
/// path must have no symbolic link, and the source must still belong to that owner.
std::vector<MadeMount> make_owner_mounts(const Config& config);

/// Returns a socket from which the launcher reads the mounts in the order of `config`, whose
/// servers have their final places: one record each, without a descriptor where the mount failed,
/// then the end.
Result<Fd> queue_owner_mounts(const Config& config, const std::vector<MadeMount>& made);

/// Whether `used` has every owner mount of `next`, so that the launcher can keep its own.
bool are_kept(const Config& used, const Config& next);

}  // namespace cellblock::daemon
