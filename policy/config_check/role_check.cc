#include "policy/config_check/role_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "policy/base/suggestion.h"
#include "policy/config/names.h"

namespace cellblock {
namespace {

void add_role(const Scope& scope, const RoleText& text, const Accounts& accounts,
              std::vector<Role>& roles) {
  const std::string& name = text.name.value;
  if (!is_short_name(name)) {
    scope.error(text.name.at, name, "is no role's name; allowed: [a-z][a-z0-9-]{0,62}");
    return;
  }
  const Scope here = scope.below(name);
  const std::size_t errors_before = scope.complaints.error_count();
  Role role{.name = name,
            .uids = check_users(here, text.users, accounts),
            .gids = check_groups(here, text.groups, accounts)};
  if (role.uids.empty() && role.gids.empty() && scope.complaints.error_count() == errors_before) {
    scope.warning(text.name.at, name, "names no user and no group, so nobody can take it");
  }
  roles.push_back(std::move(role));
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

}  // namespace

std::vector<Role> check_roles(Complaints& complaints, const ConfigText& main,
                              const Accounts& accounts) {
  const Scope scope{complaints, main.file, "role."};
  std::vector<Role> roles;
  if (main.roles.size() > max_roles) {
    complaints.error(main.file, main.roles.back().name.at, "role",
                     fmt::format("has too many entries; allowed: at most {}", max_roles));
    return roles;
  }
  for (const RoleText& text : main.roles) add_role(scope, text, accounts, roles);
  std::ranges::sort(roles, {}, &Role::name);
  return roles;
}

RoleSet check_role_names(const Scope& scope, const TextList& texts,
                         const std::vector<Role>& roles) {
  RoleSet set = 0;
  for (const TextAt& text : texts) {
    const auto found = std::ranges::find(roles, text.value, &Role::name);
    if (found == roles.end()) {
      scope.error(text.at, "roles", unknown_role(text.value, roles));
    } else {
      set |= RoleSet{1} << (found - roles.begin());
    }
  }
  return set;
}

}  // namespace cellblock
