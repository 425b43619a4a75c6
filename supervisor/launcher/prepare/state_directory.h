#pragma once

#include <map>
#include <string>
#include <utility>

#include "policy/config/id_table.h"
#include "supervisor/launcher/prepare/cell_identity.h"
#include "supervisor/os/sys.h"

/// The directories that cells keep, and whose files they are.
namespace cellblock::launcher {

/// Gives a directory and what is below it to `to`, the directory itself last: so one that was not
/// finished is taken up again at the next start.
///
/// What lies there was written by others, who may still be changing it: each thing is opened
/// without following a link and changed by its descriptor, inside one file system. Only what
/// belongs to the directory's owner so far changes hands, and of a file with several names only
/// one all of whose names are below the directory: else a name that was put there would fetch a
/// file from elsewhere. E2BIG beyond 20 000 entries, ELOOP beyond 128 levels.
SysResult<void> chown_tree(int directory, const HostIds& to);

/// Whether a server may execute files that it writes.
enum class Execution : std::uint8_t { refused, allowed };

/// What cellblock keeps on disk, reached only through the directory's descriptor:
///   ids                  IdTable, appended to
///   home/SERVER/USER/    a server's home directory, owned by the id it runs under
///   cache/USER/          what that user's gateway keeps, owned by the id it runs under just now
class StateDirectory {
 public:
  /// Reads `ids`. A file that does not make sense stops the start: ids must not be mixed up.
  static Result<StateDirectory> open(Fd directory, std::uint32_t first_id, std::uint32_t ids);

  /// On disk before it is used. ERANGE when the range is used up.
  SysResult<std::uint32_t> id_for(const std::string& server, std::uint32_t user);

  /// Gives the pair exactly this id, on disk. EEXIST: the pair has another id, or the id has
  /// another owner.
  SysResult<void> reserve(const std::string& server, std::uint32_t user, std::uint32_t id);

  struct Home {
    const std::string& server;
    std::uint32_t user = 0;
    HostIds owner;
  };

  /// A detached mount of that home directory, which is made if it is missing. One that could not
  /// be handed to its owner fails the same way until the next start, without another walk.
  SysResult<Fd> home_tree(const Home& home, Execution execution);

  struct KeptHome {
    Fd directory;
    HostIds owner;  ///< the owner of the directory
  };
  /// The home that this server has for this user. ENOENT: none was made yet.
  SysResult<KeptHome> kept_home(const std::string& server, std::uint32_t user) const;

  /// A detached mount of the user's gateway cache, made if it is missing. Only the directory
  /// changes its owner: its mode 0700 decides who reaches the files in it, whoever owned them when
  /// they were made.
  SysResult<Fd> cache_tree(std::uint32_t user, const HostIds& owner) const;

 private:
  StateDirectory(Fd directory, Fd ids, IdTable table)
      : directory_(std::move(directory)), ids_(std::move(ids)), table_(std::move(table)) {}

  SysResult<void> give(int home, const Home& wanted);

  Fd directory_;
  Fd ids_;
  IdTable table_;
  std::map<std::pair<std::string, std::uint32_t>, SysError> not_given_;  ///< at most one a home
};

}  // namespace cellblock::launcher
