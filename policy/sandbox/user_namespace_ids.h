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

/// The ids in the launcher's user namespace, under their numbers outside: the daemon's, those of
/// cells, and those of users whom a server runs as. Disjoint, and never root's.
struct MappedIds {
  std::vector<IdRange> uids;
  std::vector<IdRange> gids;
  bool operator==(const MappedIds&) const = default;
};

/// Bound of each list, as the kernel has it (user_namespaces(7)).
inline constexpr std::size_t most_id_ranges = 340;

/// In system mode. In rootless mode the mapping decides, and no other user's ids are available.
MappedIds mapped_ids(const Config& config);

}  // namespace cellblock
