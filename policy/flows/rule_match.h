#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/config/flow_rules.h"

/// Decides which flow rules apply to a call, and describes them in words. Pure.
namespace cellblock {

/// The user of a call.
struct FlowPerson {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;
};

/// The facts of a call that rules look at.
struct FlowTarget {
  std::string_view server;
  std::string_view tool;  ///< empty: a read or a prompt
  FlowLabels labels;      ///< of the call
};

/// No rule can ask, refuse or record.
inline bool is_off(const FlowRules& rules) {
  return rules.trifecta == FlowEffect::off && rules.rules.empty();
}

bool names_server(const FlowRule& rule, std::string_view server);

/// Whether a rule with `copied` needs the texts that came with that label.
bool follows_text(const FlowRules& rules, FlowLabel label);

/// Whether the rule applies to the call once the context has the labels of `after`. `person` is
/// null if the user is not known: then every rule binds.
bool concerns(const FlowRule& rule, const FlowTarget& target, const FlowPerson* person);

/// The strictest rule for which `applies` is true, `trifecta` included. Of two that ask, the one
/// that asks an administrator is stricter; of equal ones the first decides. Does not call `applies`
/// for a rule that would not decide.
std::optional<FlowRule> strictest_rule(const FlowRules& rules,
                                       const std::function<bool(const FlowRule&)>& applies);

/// Whether a call of the tool may come to wait for an administrator. Its annotations may make it
/// destructive.
bool flows_may_ask_administrator(const FlowRules& rules, const Server& server,
                                 std::string_view tool, const FlowPerson& person);

/// "it can send to others".
std::string ability_text(FlowLabels before, FlowLabels of_call);
/// "untrusted content", "private data".
std::string_view content_text(FlowLabel label);
/// "asks after untrusted, before egress, with tools create_*".
std::string rule_text(const FlowRule& rule);

/// The effect of flow rules on a call once its context has the labels of `after`.
struct LaterFlow {
  Effect effect{};
  FlowRule rule;
  std::string reason;  ///< a sentence without the rule's place
};

/// `effect`: by the access rules. nullopt: flow rules change nothing.
std::optional<LaterFlow> later_flow(const FlowRules& rules, const FlowTarget& target,
                                    const FlowPerson& person, Effect effect);

}  // namespace cellblock
