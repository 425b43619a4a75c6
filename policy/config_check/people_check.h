#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/access/name_pattern.h"
#include "policy/config/access_rule.h"
#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/complaint.h"
#include "policy/config_reader/config_text.h"
#include "policy/config_reader/table_text.h"

/// Names of users, groups, roles and tools as rules have them -> ids and patterns.
namespace cellblock {

// Patterns of names.

/// What is no such name is complained about, under the list's `key`; empty: the kind's own.
std::vector<NamePattern> check_patterns(const Scope& scope, NameKind kind, const TextList& texts,
                                        std::string_view key = {});

// Users and groups, and `allow`, the short form of a rule.

/// The accounts that ids may name.
struct Accounts {
  const Identity& identity;  ///< whose cells' ids are refused: a cell never uses the socket
  const HostFacts& facts;
};

/// What a list of users and groups does where one of its names is unknown here.
enum class ListUse : std::uint8_t {
  gives,  ///< a rule that gives rights: an unknown name gives none, which is a warning
  takes,  ///< a rule that restricts: with an unknown name its declaration is left out
  role,   ///< either, as the rules say that name the role
};

/// The uid that a name or number stands for; none: complained about. An unknown name breaks what
/// declares it.
std::optional<std::uint32_t> check_user(const Scope& scope, std::string_view key,
                                        const Located<IdText>& text, const HostFacts& facts);
std::optional<std::uint32_t> check_group(const Scope& scope, std::string_view key,
                                         const Located<IdText>& text, const HostFacts& facts);

/// The lists `users` and `groups`, each id once.
std::vector<std::uint32_t> check_users(const Scope& scope, const IdList& texts,
                                       const Accounts& accounts, ListUse use);
std::vector<std::uint32_t> check_groups(const Scope& scope, const IdList& texts,
                                        const Accounts& accounts, ListUse use);

/// The names among them that this host does not know: `user "carol"`.
std::vector<std::string> unknown_users(const IdList& texts, const HostFacts& facts);
std::vector<std::string> unknown_groups(const IdList& texts, const HostFacts& facts);

/// `allow`, as the rule that it is short for. `scope` is the server's. nullopt: there is none.
std::optional<Rule> check_allow(const Scope& scope, const ServerText& text,
                                const Accounts& accounts);

/// `[role.NAME]` of the main file, sorted by name. Those with members who are not here are added to
/// `broken`: they keep the others.
std::vector<Role> check_roles(Complaints& complaints, const ConfigText& main,
                              const Accounts& accounts, std::vector<BrokenPart>& broken);

/// The roles named in `texts`, each of which must be declared. `scope` is the rule's.
RoleSet check_role_names(const Scope& scope, const TextList& texts, const std::vector<Role>& roles,
                         ListUse use);

}  // namespace cellblock
