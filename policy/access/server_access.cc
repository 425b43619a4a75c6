#include "policy/access/server_access.h"

#include <algorithm>
#include <cstddef>

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

bool binds(const Rule& rule, const Subject& subject) {
  return rule.binds_everybody || (rule.roles & subject.held) != 0 ||
         is_one_of(subject.who, rule.uids, rule.gids);
}

bool gives_to(const Rule& rule, const Subject& subject) {
  if (rule.effect == Effect::deny || !binds(rule, subject)) return false;
  return subject.narrowed == 0 || (rule.roles & subject.narrowed) != 0;
}

bool may_use_server(std::span<const Rule> rules, const Subject& subject) {
  const auto gives = [&](const Rule& rule) { return gives_to(rule, subject); };
  const auto closes = [&](const Rule& rule) {
    return rule.effect == Effect::deny && rule.is_about_everything && binds(rule, subject);
  };
  return std::ranges::any_of(rules, gives) && std::ranges::none_of(rules, closes);
}

ServerSet servers_for(const Config& config, const Subject& subject) {
  ServerSet permitted;
  for (std::size_t i = 0; i < config.servers.size() && i < max_servers; ++i) {
    if (may_use_server(config.servers[i].rules, subject)) permitted.add(i);
  }
  return permitted;
}

std::set<std::uint32_t> idle_tokens(const Config& config) {
  std::set<std::uint32_t> idle;
  if (!config.http || config.mode == RunMode::user) return idle;
  for (std::uint32_t i = 0; i < config.http->tokens.size(); ++i) {
    const HttpToken& token = config.http->tokens[i];
    if (token.revoked) continue;
    const Identified who{token.uid, token.gid, token.groups};
    if (servers_for(config, subject_of(config.roles, who)) == ServerSet{}) idle.insert(i);
  }
  return idle;
}

}  // namespace cellblock
