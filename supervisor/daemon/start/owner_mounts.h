#pragma once

#include <string>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/os/sys.h"

/// The ID-mapped mounts of declared paths (Server::owner_mounts). The reader of the configuration
/// makes them with CAP_SYS_ADMIN and passes them to the launcher, which has no such right.
namespace cellblock::daemon {

/// Gives each the id that the client's cells have, by the list in the state directory; what is not
/// in it yet gets the next id, which the launcher writes down.
Result<void> assign_owner_ids(Config& config);

struct MadeMount {
  std::string server;
  OwnerMount mount;
  Fd tree;              ///< detached; not valid: see `problem`
  std::string problem;  ///< why it could not be made: the client's cells are strangers there
};

/// All of a configuration whose ids are assigned. The source is opened anew: no symbolic link may
/// lead to it any more, and it must still belong to that owner.
std::vector<MadeMount> make_owner_mounts(const Config& config);

/// A socket from which the launcher takes them, one record each, without a descriptor where none
/// could be made, in the order of `config`, which
/// has its servers in their final places; nothing comes after them.
Result<Fd> queue_owner_mounts(const Config& config, const std::vector<MadeMount>& made);

/// Whether each of `next` is one that `used` has too, for a launcher that keeps them.
bool are_kept(const Config& used, const Config& next);

}  // namespace cellblock::daemon
