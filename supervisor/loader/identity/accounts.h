#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/host_facts.h"

/// The host's accounts, from its name services and /etc/sub{u,g}id. Blocking.
namespace cellblock {

std::optional<UserFacts> find_user(const std::string& name);
std::optional<UserFacts> find_user(uid_t uid);
std::optional<std::uint32_t> find_group(const std::string& name);

/// The members that can be listed; a directory service may not list its users. The first 65536
/// users with this primary group, and all users in the group's own list.
GroupMembers members_of(gid_t gid);

/// All groups of that user, including the primary one; empty: no such account.
std::vector<std::uint32_t> groups_of(uid_t uid);

/// The home directory in the account database; empty if there is none.
std::string home_of(uid_t uid);

/// Every line of /etc/subuid and /etc/subgid.
std::vector<SubordinateRange> subordinate_ranges();

/// Parses such a file; malformed lines are skipped.
std::vector<SubordinateRange> parse_subordinate_ranges(std::string_view file,
                                                       std::string_view text);

}  // namespace cellblock
