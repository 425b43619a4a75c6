#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "policy/sandbox/user_namespace_ids.h"

/// The ids that an ordinary user may give to cells, by the texts of /etc/subuid and /etc/subgid
/// (subuid(5)). Pure.
namespace cellblock::daemon {

/// The ranges of this user in lines "name-or-uid:first:count". Malformed lines are skipped, as
/// newuidmap does.
std::vector<IdRange> subordinate_ranges(std::string_view text, std::uint32_t uid,
                                        std::string_view name);

/// cellblock gives a cell the same number as uid and as gid, so only ids that are in both lists can
/// be used. Returns at most `limit` ids; nothing if there are fewer than `least`.
std::optional<IdRange> common_range(std::span<const IdRange> uids, std::span<const IdRange> gids,
                                    std::uint32_t least, std::uint32_t limit);

/// What decides whether newuidmap(1) or newgidmap(1) may write a map for its caller.
struct MapHelper {
  bool is_set_uid = false;
  bool has_file_capability = false;
  bool gains_nothing = false;        ///< no_new_privs, or a mount with nosuid
  bool may_have_capability = false;  ///< CAP_SETUID or CAP_SETGID is in the bounding set
  bool root_may_administer = false;  ///< CAP_SYS_ADMIN is
};
bool can_write_maps(const MapHelper& helper);

}  // namespace cellblock::daemon
