#include "policy/config_check/rule_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace cellblock {
namespace {

using Ids = std::vector<std::uint32_t>;
using Patterns = std::vector<NamePattern>;

struct List {
  std::string_view key;
  Patterns Rule::* names;
};
constexpr std::array<List, 4> lists{{{"tools", &Rule::tools},
                                     {"resources", &Rule::resources},
                                     {"prompts", &Rule::prompts},
                                     {"features", &Rule::features}}};

bool names_nobody(const Rule& rule) {
  return !rule.binds_everybody && rule.uids.empty() && rule.gids.empty() && rule.roles == 0;
}

bool names_nothing(const Rule& rule) {
  return !rule.is_about_everything &&
         std::ranges::all_of(lists, [&](const List& l) { return (rule.*l.names).empty(); });
}

bool holds_all(const Ids& all, const Ids& some) {
  return std::ranges::all_of(
      some, [&](std::uint32_t id) { return std::ranges::find(all, id) != all.end(); });
}

bool binds_all_of(const Rule& deny, const Rule& rule) {
  if (deny.binds_everybody) return true;
  return holds_all(deny.uids, rule.uids) && holds_all(deny.gids, rule.gids) &&
         (rule.roles & ~deny.roles) == 0;
}

bool covers(const NamePattern& wide, const NamePattern& narrow) {
  return wide.is_prefix ? narrow.text.starts_with(wide.text) : wide == narrow;
}

bool denies(const Rule& deny, const List& list, const NamePattern& pattern) {
  return deny.is_about_everything || std::ranges::any_of(deny.*list.names, [&](const auto& wide) {
           return covers(wide, pattern);
         });
}

/// The one that denies this name to all whom `rule` gives it; null: none.
const Rule* denier_of(const Server& server, const Rule& rule, const List& list,
                      const NamePattern& pattern) {
  const auto found = std::ranges::find_if(server.rules, [&](const Rule& deny) {
    return deny.effect == Effect::deny && deny.arguments.empty() && binds_all_of(deny, rule) &&
           denies(deny, list, pattern);
  });
  return found == server.rules.end() ? nullptr : &*found;
}

void warn_of_denied(const Scope& scope, const Server& server, const Rule& rule) {
  for (const List& list : lists) {
    for (const NamePattern& pattern : rule.*list.names) {
      const Rule* denier = denier_of(server, rule, list, pattern);
      if (denier == nullptr) continue;
      // The short form gives these without having been asked to.
      if (rule.name == "allow" && list.names != &Rule::tools) continue;
      scope.warning({rule.line, 1}, fmt::format("{}.{}", rule.name, list.key),
                    fmt::format("\"{}{}\" can never match: {} (line {}) denies it", pattern.text,
                                pattern.is_prefix ? "*" : "", denier->name, denier->line));
    }
  }
}

void warn_of_features(const Scope& scope, const Server& server, const Rule& rule) {
  if (rule.name == "allow" || rule.effect == Effect::deny) return;
  const ClientFeatures& has = server.client_features;
  for (const NamePattern& feature : rule.features) {
    const bool is_there = feature.is_prefix || (feature.text == "roots" && has.roots) ||
                          (feature.text == "sampling" && has.sampling) ||
                          (feature.text == "elicitation" && has.elicitation);
    if (is_there) continue;
    scope.warning(
        {rule.line, 1}, rule.name + ".features",
        fmt::format("\"{}\" can never match: client_features does not name it", feature.text));
  }
}

void warn_of_rule(const Scope& scope, const Server& server, const Rule& rule) {
  const Place at{rule.line, 1};
  if (names_nobody(rule)) {
    return scope.warning(at, rule.name, "can never match: it names no user, group or role");
  }
  if (names_nothing(rule)) {
    return scope.warning(at, rule.name,
                         "can never match: it names no tool, resource, prompt or feature");
  }
  if (rule.effect == Effect::ask && !rule.features.empty()) {
    scope.warning(
        at, rule.name,
        "asks about features, for which nobody is asked: they are refused (tools, prompts "
        "and resources are asked about)");
  }
  if (rule.effect != Effect::deny) warn_of_denied(scope, server, rule);
  warn_of_features(scope, server, rule);
}

bool gives(const Rule& rule) { return rule.effect != Effect::deny && !names_nobody(rule); }

}  // namespace

void warn_of_rules(const Scope& scope, const Server& server) {
  // Of what is wrong nobody knows what it will say once it is mended.
  const bool is_broken = scope.breakage != nullptr && scope.breakage->is_broken();
  if (is_broken || scope.complaints.has_errors()) return;
  for (const Rule& rule : server.rules) {
    if (rule.name != "allow") {
      warn_of_rule(scope, server, rule);
    } else if (!names_nobody(rule)) {
      warn_of_denied(scope, server, rule);
    }
  }
  if (server.rules.empty() || std::ranges::any_of(server.rules, gives)) return;
  if (server.rules.front().name == "allow") return;  // complained about as it was read
  scope.warning({server.rules.front().line, 1}, "rule",
                "gives nobody anything, so nobody can use "
                "this server");
}

}  // namespace cellblock
