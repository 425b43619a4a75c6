#include "policy/config/host_facts.h"

#include <algorithm>

namespace cellblock {
namespace {

void add_unique(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& ids) {
  for (const std::uint32_t id : ids) {
    if (std::ranges::find(to, id) == to.end()) to.push_back(id);
  }
}

}  // namespace

bool is_cell_id(const Identity& identity, std::uint32_t id) {
  if (identity.cell_ids == 1) return false;
  return id >= identity.first_cell_id && id - identity.first_cell_id < identity.cell_ids;
}

std::optional<std::string> problem_of_person(const ClientId& person, const Identity& identity) {
  if (person.uid == 0 || person.gid == 0) return "root's id is never given to a server";
  if (person.uid < first_person || person.uid == nobody_uid) {
    return "a system account owns what no server should";
  }
  const bool is_daemons = person.uid == identity.uid || person.gid == identity.gid;
  if (is_daemons || is_cell_id(identity, person.uid) || is_cell_id(identity, person.gid)) {
    return "has an id of cellblock's own";
  }
  return std::nullopt;
}

NamedPeople named_people(const Server& server, const std::vector<Role>& roles) {
  NamedPeople people;
  for (const Rule& rule : server.rules) {
    if (rule.effect == Effect::deny) continue;
    add_unique(people.uids, rule.uids);
    add_unique(people.gids, rule.gids);
    for (std::size_t i = 0; i < roles.size(); ++i) {
      if ((rule.roles >> i & 1U) == 0) continue;
      add_unique(people.uids, roles[i].uids);
      add_unique(people.gids, roles[i].gids);
    }
  }
  return people;
}

std::optional<ClientId> account_of(std::uint32_t uid, const HostFacts& facts) {
  const auto found = facts.primary_groups.find(uid);
  if (found != facts.primary_groups.end()) return ClientId{found->first, found->second};
  const auto user =
      std::ranges::find_if(facts.users, [&](const auto& entry) { return entry.second.uid == uid; });
  if (user == facts.users.end()) return std::nullopt;
  return ClientId{user->second.uid, user->second.gid};
}

std::vector<Person> people_of(const Server& server, const std::vector<Role>& roles,
                              const HostFacts& facts) {
  const NamedPeople named = named_people(server, roles);
  std::map<std::uint32_t, std::optional<std::uint32_t>> people;
  for (const std::uint32_t uid : named.uids) {
    const auto account = account_of(uid, facts);
    if (account) {
      people[uid] = account->gid;
    } else {
      people[uid] = facts.unused_group_numbers.contains(uid) ? std::optional(uid) : std::nullopt;
    }
  }
  for (const std::uint32_t gid : named.gids) {
    const auto found = facts.members.find(gid);
    if (found == facts.members.end()) continue;
    for (const ClientId& member : found->second.users) people[member.uid] = member.gid;
  }
  std::vector<Person> sorted;
  sorted.reserve(people.size());
  for (const auto& [uid, gid] : people) sorted.push_back({uid, gid});
  return sorted;
}

}  // namespace cellblock
