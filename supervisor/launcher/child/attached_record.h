#pragma once

#include <sys/types.h>

#include <array>
#include <string>

#include "supervisor/ipc/wire.h"
#include "supervisor/launcher/child/child_plan.h"
#include "supervisor/os/sys.h"

namespace cellblock::launcher {

/// The directory that a host passed, as values: no process that others wait for ever has the
/// descriptor (docs/decisions/0010).
struct PassedDirectory {
  DirectoryIdentity identity;
  std::string path;  ///< where the host has it: a hint that proves nothing; empty: no directory
};

/// What a child tells of a record with descriptors that it received. Plain values.
struct AttachedRecord {
  enum class Kind : std::uint8_t { nonsense = 0, request = 1 };
  static constexpr std::size_t longest_path = 4096;

  Kind kind = Kind::nonsense;
  std::uint32_t path_length = 0;  ///< 0: the descriptor is no directory
  wire::GatewayRequest request;
  DirectoryIdentity identity;
  std::array<char, longest_path> path{};

  PassedDirectory directory() const;
};
static_assert(std::is_trivially_copyable_v<AttachedRecord>);

/// Forks a child that receives the next record of `channel` with all that is attached to it, sends
/// one AttachedRecord to the returned socket, and exits. Its exit closes what was attached and may
/// take for ever, which is why it is not the caller who does this. The caller reaps the child. It
/// has nothing else of the caller's, and dies with it.
struct AttachedChild {
  pid_t pid = -1;
  Fd line;
};
SysResult<AttachedChild> receive_attached_in_child(int channel);

}  // namespace cellblock::launcher
