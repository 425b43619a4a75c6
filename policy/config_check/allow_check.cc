#include "policy/config_check/allow_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "policy/config_check/pattern_check.h"

namespace cellblock {
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

// A range of one is the rootless user's own id.
bool is_cell_id(const Identity& identity, std::uint32_t id) {
  if (identity.cell_ids == 1) return false;
  return id >= identity.first_cell_id && id - identity.first_cell_id < identity.cell_ids;
}

using CheckId = std::optional<std::uint32_t> (*)(const Scope&, std::string_view,
                                                 const Located<IdText>&, const HostFacts&);

bool too_many(const Scope& scope, std::string_view key, std::size_t count, Place at) {
  if (count <= most_entries) return false;
  scope.error(at, key, fmt::format("has {} entries; allowed: at most {}", count, most_entries));
  return true;
}

std::vector<std::uint32_t> check_ids(const Scope& scope, std::string_view key, const IdList& texts,
                                     CheckId check, const Accounts& accounts) {
  std::vector<std::uint32_t> ids;
  if (!texts.empty() && too_many(scope, key, texts.size(), texts.front().at)) return ids;
  for (const auto& text : texts) {
    const auto id = check(scope, key, text, accounts.facts);
    if (!id) continue;
    if (is_cell_id(accounts.identity, *id)) {
      scope.error(
          text.at, key,
          fmt::format("{} is in daemon.id_range, which belongs to cells; allowed: users and "
                      "groups of people",
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
  scope.error(
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
  scope.error(
      text.at, key,
      fmt::format("there is no group \"{}\" here; allowed: an existing group, or a number", *name));
  return std::nullopt;
}

std::vector<std::uint32_t> check_users(const Scope& scope, const IdList& texts,
                                       const Accounts& accounts) {
  return check_ids(scope, "users", texts, check_user, accounts);
}

std::vector<std::uint32_t> check_groups(const Scope& scope, const IdList& texts,
                                        const Accounts& accounts) {
  return check_ids(scope, "groups", texts, check_group, accounts);
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
  Rule rule = short_form(check_users(here, text.allow->users, accounts),
                         check_groups(here, text.allow->groups, accounts),
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
    scope.warning(text.allow->at, "allow", "names no user and no group, so nobody can use it");
  } else if (rule.tools.empty() && text.rules.empty()) {
    scope.warning(text.allow->at, "allow", "names no tools, so none can be called");
  }
  return rule;
}

}  // namespace cellblock
