#pragma once

#include <sys/types.h>

#include <string>

#include "policy/base/result.h"
#include "policy/config/config.h"

/// The launcher's uid and gid map: the one privileged thing that cellblock does, once. Both maps
/// are the identity, so that a number means the same on every side. See user_namespaces(7).
namespace cellblock::daemon {

enum class MapWay : std::uint8_t {
  own_capabilities,  ///< system mode: CAP_SETUID and CAP_SETGID write both maps here
  newuidmap,         ///< rootless: newuidmap(1) and newgidmap(1) check /etc/subuid and /etc/subgid
  own_id_only,       ///< rootless without usable subordinate ids: cells run as the user himself
};

/// newuidmap(1) and newgidmap(1) on this machine.
enum class MapHelpers : std::uint8_t {
  missing,
  powerless,  ///< they may write no map here (can_write_maps of subordinate_ids.h)
  usable,
};
MapHelpers look_for_map_helpers();

/// Rootless: chooses the way, and sets the ids of `identity` by it. Call before the configuration
/// is sealed.
MapWay choose_rootless_ids(Identity& identity);

/// Writes both maps. `launcher` has made its user namespace and waits.
Result<void> write_id_maps(pid_t launcher, const Config& config, MapWay way);

/// "/proc/PID/NAME"
std::string process_file(pid_t process, const char* name);

/// Writes in one call: the kernel accepts a map in no more.
Result<void> write_process_file(pid_t process, const char* name, const std::string& text);

}  // namespace cellblock::daemon
