#include "policy/access/subject.h"

#include <algorithm>

namespace cellblock {
namespace {

bool contains(std::span<const std::uint32_t> ids, std::uint32_t id) {
  return std::ranges::find(ids, id) != ids.end();
}

}  // namespace

bool is_one_of(const Identified& who, std::span<const std::uint32_t> uids,
               std::span<const std::uint32_t> gids) {
  if (contains(uids, who.uid) || contains(gids, who.gid)) return true;
  return std::ranges::any_of(who.groups, [&](std::uint32_t gid) { return contains(gids, gid); });
}

Subject subject_of(std::span<const Role> roles, const Identified& who) {
  Subject subject{.who = who};
  for (std::size_t i = 0; i < roles.size() && i < max_roles; ++i) {
    if (is_one_of(who, roles[i].uids, roles[i].gids)) subject.held |= RoleSet{1} << i;
  }
  return subject;
}

std::optional<Subject> as_role(std::span<const Role> roles, Subject subject,
                               std::string_view role) {
  for (std::size_t i = 0; i < roles.size() && i < max_roles; ++i) {
    const RoleSet one = RoleSet{1} << i;
    if (roles[i].name != role || (subject.held & one) == 0) continue;
    subject.narrowed = one;
    return subject;
  }
  return std::nullopt;
}

}  // namespace cellblock
