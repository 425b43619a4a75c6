#pragma once

#include <cstdint>

#include "policy/config/config.h"

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

}  // namespace cellblock
