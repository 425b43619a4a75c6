#pragma once

#include <cstdint>

namespace cellblock {

/// How many descriptors an egress helper uses at most: its sockets, its resolver's, and five for
/// each connection while it is dialled (two afterwards).
constexpr std::uint64_t egress_files(std::uint32_t max_connections) {
  return 128 + 5ULL * max_connections;
}

inline constexpr std::uint32_t most_egress_connections = 1024;

}  // namespace cellblock
