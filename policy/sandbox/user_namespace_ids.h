#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/config/config.h"

namespace cellblock {

struct IdRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const IdRange&) const = default;
};

/// The ids that the launcher's user namespace has, under the numbers that they have outside: the
/// daemon's, those of cells, and those of users whom a server runs as. Disjoint, and never root's.
struct MappedIds {
  std::vector<IdRange> uids;
  std::vector<IdRange> gids;
  bool operator==(const MappedIds&) const = default;
};

/// Of each list, as many as the kernel takes (user_namespaces(7)).
inline constexpr std::size_t most_id_ranges = 340;

/// In system mode. Rootless the way of mapping decides, and nobody else's ids can be had.
MappedIds mapped_ids(const Config& config);

}  // namespace cellblock
