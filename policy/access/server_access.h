#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "policy/base/server_set.h"
#include "policy/config/access_rule.h"
#include "policy/config/config.h"

/// Who asks, and which servers a person may use at all. What a person may do with a server, for
/// which names and arguments are read, is in rights.h.
namespace cellblock {

/// From the kernel.
struct Identified {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::span<const std::uint32_t> groups;  ///< supplementary
};

/// A person, and the role that the session has taken. Borrows the groups.
struct Subject {
  Identified who;
  RoleSet held = 0;      ///< all that the person may take
  RoleSet narrowed = 0;  ///< to the one that was taken; 0: none was
};

/// Roles beyond max_roles are ignored; a checked configuration has none.
Subject subject_of(std::span<const Role> roles, const Identified& who);

/// The same person, with nothing but that role; nullopt: there is none of that name, or it is not
/// this person's to take.
std::optional<Subject> as_role(std::span<const Role> roles, Subject subject, std::string_view role);

bool is_one_of(const Identified& who, std::span<const std::uint32_t> uids,
               std::span<const std::uint32_t> gids);

/// The rule is about this person, in any role that the person may take.
bool binds(const Rule& rule, const Subject& subject);
/// The rule gives this person something: allow or ask, and of a role that was taken, its own alone.
bool gives_to(const Rule& rule, const Subject& subject);

/// Whether any rule gives the person something of the server, and none denies everything.
bool may_use_server(std::span<const Rule> rules, const Subject& subject);

/// The servers that this user may use. Servers beyond max_servers are in no set; a checked
/// configuration has none.
ServerSet servers_for(const Config& config, const Subject& subject);

/// Indices in HttpListen::tokens of tokens whose user may use no server. Empty with --user: there
/// each server's rules decide for the one user.
std::set<std::uint32_t> idle_tokens(const Config& config);

}  // namespace cellblock
