#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/access/condition_match.h"
#include "policy/access/rights.h"
#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/config/flow_rules.h"

/// The texts of `cellblockd --explain`: what a user may do with a server, and by which rules.
namespace cellblock {

struct ExplainedCall {
  std::string tool;
  std::string arguments;  ///< a JSON object; empty: not given
};

/// A server, and the file that declares it.
struct DeclaredServer {
  const Server& server;
  std::string_view file;
};

/// "server.git.rule[2], /etc/cellblock/cellblock.toml:41".
std::string place_of(const DeclaredServer& declared, const Rule& rule);

/// "ask tools git_push": the effect and the names.
std::string text_of(const Rule& rule);

struct Explanation {
  /// The effect on the call; without a call: allow if the user may use the server. nullopt: the
  /// effect depends on arguments that were not given.
  std::optional<Effect> effect = Effect::deny;
  std::string text;
  std::string json;  ///< the same as one object, docs/cli.md
};

/// `[flows]`, and the main file.
struct DeclaredFlows {
  const FlowRules& rules;
  std::string_view file;
};

/// An error in the form that `cellblock` has with --json.
std::string explain_error_json(std::string_view text, int exit_code);

/// All that `subject` may do, rule by rule.
Explanation explain_rights(const DeclaredServer& declared, const Subject& subject,
                           const Identity& identity);

/// The effect on one call and the reason, and the effect that `flows` would have later. Without the
/// arguments, where these decide: all rules about the tool. An error: a gateway would not accept
/// the arguments as a JSON object.
Result<Explanation> explain_call(const DeclaredServer& declared, const Subject& subject,
                                 const DeclaredFlows& flows, const ExplainedCall& call);

}  // namespace cellblock
