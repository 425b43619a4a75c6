#include "policy/config_check/people_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

#include "policy/base/suggestion.h"
#include "policy/config/names.h"

namespace cellblock {
namespace {

constexpr std::size_t most_patterns = 1024;

}  // namespace

std::vector<NamePattern> check_patterns(const Scope& scope, NameKind kind, const TextList& texts,
                                        std::string_view key) {
  if (key.empty()) key = key_of(kind);
  std::vector<NamePattern> patterns;
  if (texts.size() > most_patterns) {
    scope.error(texts.front().at, key,
                fmt::format("has {} entries; allowed: at most {}", texts.size(), most_patterns));
    return patterns;
  }
  for (const TextAt& text : texts) {
    if (auto pattern = read_name_pattern(kind, text.value)) {
      patterns.push_back(std::move(*pattern));
    } else {
      scope.error(text.at, key, pattern.error().text);
    }
  }
  return patterns;
}

namespace {

// uid_t's last value means "none" to the kernel.
constexpr std::int64_t last_id = std::numeric_limits<std::uint32_t>::max() - 1;
constexpr std::size_t most_entries = 1024;

std::optional<std::uint32_t> number_of(const Scope& scope, std::string_view key,
                                       const Located<IdText>& text) {
  const std::int64_t number = std::get<std::int64_t>(text.value);
  if (number >= 0 && number <= last_id) return static_cast<std::uint32_t>(number);
  scope.error(text.at, key, fmt::format("{} is no id; allowed: 0 to {}", number, last_id));
  return std::nullopt;
}

void add_unique(std::vector<std::uint32_t>& ids, std::uint32_t id) {
  if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
}

/// Of a list, and what it does with a name that it does not know.
struct IdKind {
  std::string_view key;  ///< "users"
  std::string_view one;  ///< "user"
  std::optional<std::uint32_t> (*check)(const Scope&, std::string_view, const Located<IdText>&,
                                        const HostFacts&);
  bool (*is_known)(const std::string& name, const HostFacts&);
};

constexpr IdKind users_kind{
    "users", "user", check_user,
    [](const std::string& name, const HostFacts& facts) { return facts.users.contains(name); }};
constexpr IdKind groups_kind{
    "groups", "group", check_group,
    [](const std::string& name, const HostFacts& facts) { return facts.groups.contains(name); }};

bool is_unknown(const IdKind& kind, const IdText& text, const HostFacts& facts) {
  const auto* name = std::get_if<std::string>(&text);
  return name != nullptr && !kind.is_known(*name, facts);
}

void say_unknown(const Scope& scope, const IdKind& kind, const Located<IdText>& text, ListUse use) {
  const auto& name = std::get<std::string>(text.value);
  if (use == ListUse::gives) {
    return scope.warning(text.at, kind.key,
                         fmt::format("there is no {0} \"{1}\" here, so nobody is allowed by that "
                                     "name; allowed: an existing {0}, or a number",
                                     kind.one, name));
  }
  constexpr std::string_view of_rule = "and a rule that denies or asks has to know whom";
  constexpr std::string_view of_role =
      "so it is nobody's role by that name, and servers that deny or ask by it are left out";
  scope.broken(
      text.at, kind.key,
      fmt::format("there is no {0} \"{1}\" here, {2}; allowed: an existing {0}, or a number",
                  kind.one, name, use == ListUse::role ? of_role : of_rule));
}

std::vector<std::string> unknown_among(const IdKind& kind, const IdList& texts,
                                       const HostFacts& facts) {
  std::vector<std::string> unknown;
  for (const auto& text : texts) {
    if (!is_unknown(kind, text.value, facts)) continue;
    unknown.push_back(fmt::format("{} \"{}\"", kind.one, std::get<std::string>(text.value)));
  }
  return unknown;
}

bool too_many(const Scope& scope, std::string_view key, std::size_t count, Place at) {
  if (count <= most_entries) return false;
  scope.error(at, key, fmt::format("has {} entries; allowed: at most {}", count, most_entries));
  return true;
}

constexpr std::uint32_t overflow_id = 65'534;  // the kernel's default (user_namespaces(7))

std::vector<std::uint32_t> check_ids(const Scope& scope, const IdKind& kind, const IdList& texts,
                                     const Accounts& accounts, ListUse use) {
  std::vector<std::uint32_t> ids;
  if (!texts.empty() && too_many(scope, kind.key, texts.size(), texts.front().at)) return ids;
  for (const auto& text : texts) {
    if (is_unknown(kind, text.value, accounts.facts)) {
      say_unknown(scope, kind, text, use);
      continue;
    }
    const auto id = kind.check(scope, kind.key, text, accounts.facts);
    if (!id) continue;
    if (is_cell_id(accounts.identity, *id)) {
      scope.error(
          text.at, kind.key,
          fmt::format("{} is in daemon.id_range, which belongs to cells; allowed: users and "
                      "groups of people",
                      *id));
    }
    if (*id == overflow_id && !accounts.facts.mapped_ranges.empty()) {
      scope.error(
          text.at, kind.key,
          fmt::format("{} stands in this user namespace for all ids of the host that it has "
                      "no number for; allowed: ids of somebody",
                      *id));
    }
    add_unique(ids, *id);
  }
  return ids;
}

}  // namespace

std::optional<std::uint32_t> check_user(const Scope& scope, std::string_view key,
                                        const Located<IdText>& text, const HostFacts& facts) {
  const auto* name = std::get_if<std::string>(&text.value);
  if (name == nullptr) return number_of(scope, key, text);
  const auto found = facts.users.find(*name);
  if (found != facts.users.end()) return found->second.uid;
  scope.broken(
      text.at, key,
      fmt::format("there is no user \"{}\" here; allowed: an existing user, or a number", *name));
  return std::nullopt;
}

std::optional<std::uint32_t> check_group(const Scope& scope, std::string_view key,
                                         const Located<IdText>& text, const HostFacts& facts) {
  const auto* name = std::get_if<std::string>(&text.value);
  if (name == nullptr) return number_of(scope, key, text);
  const auto found = facts.groups.find(*name);
  if (found != facts.groups.end()) return found->second;
  scope.broken(
      text.at, key,
      fmt::format("there is no group \"{}\" here; allowed: an existing group, or a number", *name));
  return std::nullopt;
}

std::vector<std::uint32_t> check_users(const Scope& scope, const IdList& texts,
                                       const Accounts& accounts, ListUse use) {
  return check_ids(scope, users_kind, texts, accounts, use);
}

std::vector<std::uint32_t> check_groups(const Scope& scope, const IdList& texts,
                                        const Accounts& accounts, ListUse use) {
  return check_ids(scope, groups_kind, texts, accounts, use);
}

std::vector<std::string> unknown_users(const IdList& texts, const HostFacts& facts) {
  return unknown_among(users_kind, texts, facts);
}

std::vector<std::string> unknown_groups(const IdList& texts, const HostFacts& facts) {
  return unknown_among(groups_kind, texts, facts);
}

std::optional<Rule> check_allow(const Scope& scope, const ServerText& text,
                                const Accounts& accounts) {
  if (!text.allow) {
    if (scope.mentioned("allow") || !text.rules.empty()) return std::nullopt;
    scope.warning(text.name.at, "allow",
                  "is missing, so nobody can use it; allowed: { users = [...], groups = [...], "
                  "tools = [...] }");
    return std::nullopt;
  }
  const Scope here = scope.below("allow");
  const std::size_t errors_before = scope.complaints.error_count();
  Rule rule = short_form(check_users(here, text.allow->users, accounts, ListUse::gives),
                         check_groups(here, text.allow->groups, accounts, ListUse::gives),
                         check_patterns(here, NameKind::tool, text.allow->tools));
  rule.line = text.allow->at.line;
  if (text.allow->resources) {
    rule.resources = check_patterns(here, NameKind::resource, text.allow->resources->value);
  }
  if (text.allow->prompts) {
    rule.prompts = check_patterns(here, NameKind::prompt, text.allow->prompts->value);
  }
  if (scope.complaints.error_count() > errors_before) return rule;
  if (rule.uids.empty() && rule.gids.empty()) {
    scope.warning(text.allow->at, "allow",
                  "names no user and no group that is here, so nobody can use it");
  } else if (rule.tools.empty() && text.rules.empty()) {
    scope.warning(text.allow->at, "allow", "names no tools, so none can be called");
  }
  return rule;
}

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
