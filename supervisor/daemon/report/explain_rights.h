#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/access/condition_match.h"
#include "policy/access/rights.h"
#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/config/flow_rules.h"

/// The text of `cellblockd --explain`: what a user may do with a server, and by which rules.
namespace cellblock {

struct ExplainedCall {
  std::string tool;
  std::string arguments;  ///< a JSON object; empty: they were not told
};

/// A server, and the file that declares it.
struct DeclaredServer {
  const Server& server;
  std::string_view file;
};

/// "server.git.rule[2], /etc/cellblock/cellblock.toml:41".
std::string place_of(const DeclaredServer& declared, const Rule& rule);

/// "ask tools git_push": what it does, and about what.
std::string text_of(const Rule& rule);

struct Explanation {
  /// Of the call; without one: allow if the server may be used. Nothing: it depends on the call's
  /// arguments, which were not told.
  std::optional<Effect> effect = Effect::deny;
  std::string text;
  std::string json;  ///< the same as one object, docs/cli.md
};

/// `[flows]`, and the main file.
struct DeclaredFlows {
  const FlowRules& rules;
  std::string_view file;
};

/// What went wrong instead, as `cellblock` says it with --json.
std::string explain_error_json(std::string_view text, int exit_code);

/// All that `subject` may do, rule by rule.
Explanation explain_rights(const DeclaredServer& declared, const Subject& subject,
                           const Identity& identity);

/// What becomes of one call, and why; without its arguments, where these decide, all that is said
/// of the tool; and what `flows` would make of it later. Fails where the arguments are no JSON
/// object that a gateway would take.
Result<Explanation> explain_call(const DeclaredServer& declared, const Subject& subject,
                                 const DeclaredFlows& flows, const ExplainedCall& call);

}  // namespace cellblock
