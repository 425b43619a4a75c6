#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "policy/sandbox/user_namespace_ids.h"

/// Which ids an ordinary user may hand to his own cells, as /etc/subuid and /etc/subgid say
/// (subuid(5)). Pure; the texts are read elsewhere.
namespace cellblock::daemon {

/// Of the lines "name-or-uid:first:count", those of this user. Malformed lines are left out, as
/// newuidmap does.
std::vector<IdRange> subordinate_ranges(std::string_view text, std::uint32_t uid,
                                        std::string_view name);

/// cellblock gives a cell the same number as uid and as gid, so only ids that are in both lists can
/// be used. At most `limit` of them; nothing when there are fewer than `least`.
std::optional<IdRange> common_range(std::span<const IdRange> uids, std::span<const IdRange> gids,
                                    std::uint32_t least, std::uint32_t limit);

}  // namespace cellblock::daemon
