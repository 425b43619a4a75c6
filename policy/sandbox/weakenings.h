#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/config/config.h"

/// What makes a server or the installation weaker than cellblock's defaults, each under the name it
/// has in the TOML. Shown by `cellblock status` and `cellblockd --check`.
namespace cellblock {

/// What limits.io_read and io_write come to on this host: io.max is set for each disk by its
/// number, so a controller alone holds nothing.
enum class IoLimitSupport : std::uint8_t {
  nothing,
  group,    ///< io.max of the cell's control group
  no_disk,  ///< what the server sees lies in memory: there is nothing to hold
};

constexpr IoLimitSupport io_hold(const Server& server, const Cgroup& cgroup) {
  if (server.storage == Storage::memory) return IoLimitSupport::no_disk;
  const bool has_controller = !cgroup.directory.empty() && cgroup.io;
  const bool has_disks = server.storage == Storage::disks && !server.disks.empty();
  return has_controller && has_disks ? IoLimitSupport::group : IoLimitSupport::nothing;
}

/// What a kernel with this Landlock ABI (0: none) cannot fence in by it, a line each, with what
/// stands in its place. Empty: nothing that cellblock uses.
std::vector<std::string> landlock_lacks(std::uint32_t abi);

/// `cgroup`: of the installation, which says what of `limits` holds.
std::vector<std::string> weakenings_of(const Server& server, const Cgroup& cgroup);
std::vector<std::string> weakenings_of(const Config& config);  ///< of the installation, no servers'

}  // namespace cellblock
