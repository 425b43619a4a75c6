#include "policy/config_check/server_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "policy/config/host_facts.h"
#include "policy/config/names.h"
#include "policy/config/path_rules.h"
#include "policy/config/server_keys.h"
#include "policy/config/server_list.h"
#include "policy/config_check/bind_check.h"
#include "policy/config_check/command_check.h"
#include "policy/config_check/egress_check.h"
#include "policy/config_check/flow_check.h"
#include "policy/config_check/image_check.h"
#include "policy/config_check/limits_check.h"
#include "policy/config_check/people_check.h"
#include "policy/config_check/rule_check.h"
#include "policy/config_check/run_as_check.h"
#include "policy/config_check/secret_check.h"
#include "policy/config_check/value_check.h"
#include "policy/config_check/workspace_check.h"

namespace cellblock {
namespace {

constexpr Range<std::int64_t> cells_range{1, 1024};

constexpr std::array features = {
    Choice<bool ClientFeatures::*>{"roots", &ClientFeatures::roots},
    Choice<bool ClientFeatures::*>{"sampling", &ClientFeatures::sampling},
    Choice<bool ClientFeatures::*>{"elicitation", &ClientFeatures::elicitation}};

ClientFeatures check_features(const Scope& scope, const TextList& texts) {
  ClientFeatures allowed;
  for (const TextAt& text : texts) {
    const auto* choice = find_choice(scope, "client_features", text, features);
    if (choice != nullptr) allowed.*(choice->value) = true;
  }
  return allowed;
}

// Both would be mounted at the same place.
void refuse_workspace_target(const Scope& scope, const ServerText& text, const Server& server) {
  if (!server.workspace) return;
  for (const Bind& bind : server.binds) {
    if (!is_at_or_below(bind.target, workspace_directory)) continue;
    scope.error(text.workspace->at, "workspace",
                fmt::format("takes {}, where \"{}\" is put as well; allowed: another target for "
                            "that",
                            workspace_directory, bind.source));
  }
}

void refuse_idle_home_limit(const Scope& scope, const ServerText& text, const Server& server) {
  if (!text.limits.has("home") || server.home == HomeKind::temporary) return;
  scope.error(text.limits.at("home"), "limits.home",
              "has no effect on a persistent home, which is as large as its disk allows; allowed: "
              "home = \"temporary\", or leave this out");
}

// What belongs to one session cannot be given to the one process of several.
void check_sharing(const Scope& scope, const ServerText& text, Server& server) {
  check_choice(scope, "cells", text.cells, server.cells);
  if (server.cells != CellSharing::per_user) return;
  if (server.workspace) {
    scope.error(text.cells->at, "cells",
                "is \"per-user\", but each session has a workspace of its own; allowed: "
                "\"per-session\", or no workspace");
  }
  if (server.client_features != ClientFeatures{}) {
    scope.error(text.cells->at, "cells",
                "is \"per-user\", so a question of the server would be no session's; allowed: "
                "\"per-session\", or no client_features");
  }
}

void check_files(const Scope& scope, const ServerText& text, const Surroundings& around,
                 Server& server) {
  const PathsAround paths{around.protected_paths, around.written, around.facts};
  server.image = check_image(scope, text, paths, server.found);
  server.working_directory = check_working_directory(scope, text);
  server.command = check_command(scope, text, around.facts, server.found);
  server.command_stamp = check_digest(scope, text, around.facts);
  server.binds = check_binds(scope, text, paths, server.found);
  check_program(scope, text, around.facts);
  server.workspace = check_workspace(scope, text, paths, server.found);
  refuse_workspace_target(scope, text, server);
  check_choice(scope, "home", text.home, server.home);
  if (text.execute_writable) server.execute_writable = text.execute_writable->value;
  check_write_overlap(scope, text, server, paths);
  server.environment = check_environment(scope, text);
  server.secrets = check_secrets(scope, text, around.facts);
}

void check_fences(const Scope& scope, const ServerText& text, const Surroundings& around,
                  Server& server) {
  check_choice(scope, "network", text.network, server.network);
  server.egress = check_egress(scope, text, server.network);
  server.syscalls = check_syscalls(scope, text, server.network, around.profiles);
  check_runtime(scope, text, server.syscalls, around.facts);
  server.limits = check_limits(scope, text.limits, around.facts);
  if (server.network == NetworkMode::egress) {
    check_egress_files(scope, text, server.egress, around.facts);
  }
  refuse_idle_home_limit(scope, text, server);
  read_keys(scope.below("lines"), text.lines, server.lines);
  read_keys(scope.below("stop"), text.stop, StopTable{server.stop, server.timeouts});
  read_keys(scope.below("health"), text.health, server.health);
  server.restart = check_restart(scope, text.restart);
}

std::vector<SourceOwnership> ownership_of(const std::vector<Bind>& binds, const HostFacts& facts) {
  std::vector<SourceOwnership> ownership;
  for (const Bind& bind : binds) {
    const auto found = facts.sources.find(bind.source);
    ownership.push_back(found == facts.sources.end() ? SourceOwnership{} : found->second.ownership);
  }
  return ownership;
}

std::vector<Person> people_here(const Server& server, const Surroundings& around) {
  if (around.mode == RunMode::system) return people_of(server, around.roles, around.facts);
  return {{around.identity.uid, around.identity.gid}};
}

bool has_unknown(const IdList& users, const IdList& groups, const HostFacts& facts) {
  return !unknown_users(users, facts).empty() || !unknown_groups(groups, facts).empty();
}

// A rule of nobody here breaks its server if it denies, and gives nothing if it allows.
bool names_unknown_people(const ServerText& text, const Server& server,
                          const Surroundings& around) {
  const auto in_allow = [&](const AllowText& allow) {
    return has_unknown(allow.users, allow.groups, around.facts);
  };
  const auto in_rule = [&](const RuleText& rule) {
    return has_unknown(rule.users ? rule.users->value : IdList{},
                       rule.groups ? rule.groups->value : IdList{}, around.facts);
  };
  const auto in_roles = [&](const Rule& rule) {
    for (std::size_t k = 0; k < around.roles.size(); ++k) {
      if ((rule.roles >> k & 1U) != 0 && !around.roles[k].unknown.empty()) return true;
    }
    return false;
  };
  return (text.allow && in_allow(*text.allow)) || std::ranges::any_of(text.rules, in_rule) ||
         std::ranges::any_of(server.rules, in_roles);
}

// With everything declared that its cells see, and everybody known who may use it.
void check_run_identity(const Scope& scope, const ServerText& text, const Surroundings& around,
                        CheckedServer& checked) {
  Server& server = checked.server;
  const RunAsRules rules{around.mode, around.identity, around.facts, around.roles};
  const std::vector<Person> people = people_here(server, around);
  server.ownership = ownership_of(server.binds, around.facts);
  server.run_as = check_run_as(scope, text, rules);
  if (is_automatic(text)) {
    const AllowedPeople allowed{people, names_unknown_people(text, server, around)};
    IdentityChoice choice = choose_identity(server, allowed, around.mode, around.identity,
                                            around.facts, around.owner_mount_room);
    server.run_as = std::move(choice.run_as);
    server.owner_mounts = std::move(choice.mounts);
  }
  checked.clients = clients_of(scope, text, server, rules);
  warn_of_sources(scope, text, server, people, around.identity);
}

constexpr std::size_t most_digests = 1024;

bool is_definition_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::vector<std::string> check_digests(const Scope& scope, const TextList& texts) {
  constexpr std::string_view key = "accepted_definitions";
  if (texts.size() > most_digests) {
    scope.error(texts.front().at, key,
                fmt::format("has {} entries; allowed: at most {}", texts.size(), most_digests));
    return {};
  }
  std::vector<std::string> digests;
  for (const TextAt& text : texts) {
    if (!is_definition_digest(text.value)) {
      scope.error(text.at, key,
                  fmt::format("\"{}\" is no digest of a definition; allowed: all 64 digits, as "
                              "\"cellblock approve show\" prints them",
                              text.value));
    }
    digests.push_back(text.value);
  }
  std::ranges::sort(digests);
  digests.erase(std::ranges::unique(digests).begin(), digests.end());
  return digests;
}

}  // namespace

CheckedServer check_server(Complaints& complaints, const ServerText& text,
                           const Surroundings& around) {
  CheckedServer checked;
  Server& server = checked.server;
  Breakage breakage;
  const Scope scope{complaints, text.file, "server." + text.name.value + ".", &breakage};
  if (!is_short_name(text.name.value)) {
    complaints.error(text.file, text.name.at, "server." + text.name.value,
                     "is no server name; allowed: [a-z][a-z0-9-]{0,62}");
  }
  server.name = text.name.value;
  if (text.enabled) server.enabled = text.enabled->value;
  refuse_placeholders(scope, text);
  check_files(scope, text, around, server);
  check_fences(scope, text, around, server);
  check_choice(scope, "era", text.era, server.era);
  server.client_features = check_features(scope, text.client_features);
  check_sharing(scope, text, server);
  check_choice(scope, "pin", text.pin, server.pin);
  server.accepted_definitions = check_digests(scope, text.accepted_definitions);
  if (text.validate_arguments) server.validate_arguments = text.validate_arguments->value;
  server.always_listed = check_patterns(scope, NameKind::tool, text.always_listed, "always_listed");
  server.flows = check_flow_tools(scope, text, server);
  server.rules = check_rules(scope, text, around.roles, {around.identity, around.facts});
  warn_of_rules(scope, server);
  server.calls = check_server_calls(scope, text.calls, text.tools);
  server.results = check_server_results(scope, text.results, text.tools, around.results);
  server.redaction = rules_of(check_redaction(scope, text.redaction, around.redaction));
  check_integer(scope, "max_cells_per_user", text.max_cells_per_user, cells_range,
                server.max_cells_per_user);
  check_start(scope, text.start, server);
  check_run_identity(scope, text, around, checked);
  if (breakage.is_broken()) leave_out(server, std::move(breakage));
  return checked;
}

}  // namespace cellblock
