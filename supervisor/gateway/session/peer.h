#pragma once

#include <cstdint>
#include <vector>

namespace cellblock::gateway {

/// Who is at the other end of a session, as the kernel says.
struct Peer {
  std::uint64_t session = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int32_t pid = 0;  ///< for display only
  std::vector<std::uint32_t> groups;
};

}  // namespace cellblock::gateway
