#include "policy/config_check/role_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "policy/base/suggestion.h"
#include "policy/config/names.h"

namespace cellblock {
namespace {

std::vector<std::string> unknown_members(const RoleText& text, const HostFacts& facts) {
  std::vector<std::string> unknown = unknown_users(text.users, facts);
  std::ranges::move(unknown_groups(text.groups, facts), std::back_inserter(unknown));
  return unknown;
}

/// The role, and what is broken of it.
struct ReadRole {
  Role role;
  Breakage breakage;
};

void add_role(const Scope& scope, const RoleText& text, const Accounts& accounts,
              std::vector<ReadRole>& roles) {
  const std::string& name = text.name.value;
  if (!is_short_name(name)) {
    scope.error(text.name.at, name, "is no role's name; allowed: [a-z][a-z0-9-]{0,62}");
    return;
  }
  ReadRole read;
  Scope here = scope.below(name);
  here.breakage = &read.breakage;
  const std::size_t faults_before = scope.complaints.fault_count();
  read.role = {.name = name,
               .uids = check_users(here, text.users, accounts, ListUse::role),
               .gids = check_groups(here, text.groups, accounts, ListUse::role),
               .unknown = unknown_members(text, accounts.facts)};
  const bool is_nobodys = read.role.uids.empty() && read.role.gids.empty();
  if (is_nobodys && scope.complaints.fault_count() == faults_before) {
    scope.warning(text.name.at, name, "names no user and no group, so nobody can take it");
  }
  roles.push_back(std::move(read));
}

std::string unknown_role(const std::string& name, const std::vector<Role>& roles) {
  std::vector<std::string_view> known;
  known.reserve(roles.size());
  for (const Role& role : roles) known.push_back(role.name);
  const std::string_view guess = nearest(name, known);
  std::string text = fmt::format("there is no role \"{}\"", name);
  if (!guess.empty()) text += fmt::format("; did you mean \"{}\"?", guess);
  return text + (known.empty() ? "; allowed: what [role.NAME] in the main file declares"
                               : fmt::format("; allowed: {}", fmt::join(known, ", ")));
}

// A role that denies or asks takes nothing from a member who is not known here.
void refuse_unknown(const Scope& scope, Place at, const Role& role) {
  if (role.unknown.empty()) return;
  scope.broken(at, "roles",
               fmt::format("role \"{}\" names who is not here ({}), and a rule that denies or asks "
                           "has to know whom; allowed: a role whose members are all here",
                           role.name, fmt::join(role.unknown, ", ")));
}

}  // namespace

std::vector<Role> check_roles(Complaints& complaints, const ConfigText& main,
                              const Accounts& accounts, std::vector<BrokenPart>& broken) {
  const Scope scope{complaints, main.file, "role."};
  if (main.roles.size() > max_roles) {
    complaints.error(main.file, main.roles.back().name.at, "role",
                     fmt::format("has too many entries; allowed: at most {}", max_roles));
    return {};
  }
  std::vector<ReadRole> read;
  for (const RoleText& text : main.roles) add_role(scope, text, accounts, read);
  std::vector<Role> roles;
  for (ReadRole& one : read) {
    if (one.breakage.is_broken()) broken.push_back({"role." + one.role.name, one.breakage});
    roles.push_back(std::move(one.role));
  }
  std::ranges::sort(roles, {}, &Role::name);
  return roles;
}

RoleSet check_role_names(const Scope& scope, const TextList& texts, const std::vector<Role>& roles,
                         ListUse use) {
  RoleSet set = 0;
  for (const TextAt& text : texts) {
    const auto found = std::ranges::find(roles, text.value, &Role::name);
    if (found == roles.end()) {
      scope.error(text.at, "roles", unknown_role(text.value, roles));
      continue;
    }
    set |= RoleSet{1} << (found - roles.begin());
    if (use == ListUse::takes) refuse_unknown(scope, text.at, *found);
  }
  return set;
}

}  // namespace cellblock
