#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "policy/access/condition_match.h"
#include "policy/access/server_access.h"
#include "policy/config/access_rule.h"

/// What one user may do with one server: the one function that calls, lists and reports ask.
///
/// Only rules give rights. Of all rules that bind the user and match the request, the strictest
/// decides, in any order: deny, then ask, then allow. A session that has taken a role has that
/// role's rights, except those that the user would not have without it.
namespace cellblock {

enum class AccessKind : std::uint8_t {
  tool,
  resource,           ///< by its URI
  resource_template,  ///< by its text: whether anything that it can stand for may be read
  prompt,
  feature,  ///< what a server asks of the host: "roots", "sampling", "elicitation"
};

struct AccessRequest {
  AccessKind kind = AccessKind::tool;
  std::string_view name;
  const Arguments* arguments = nullptr;  ///< null: there are none that could be read
  /// Defaults of the tool's schema, for rules that restrict; null: not known.
  const Arguments* defaults = nullptr;
};

struct AccessVerdict {
  Effect effect = Effect::deny;
  const Rule* rule = nullptr;  ///< null: none gives it
  /// Without a rule: the first one that would give it, if it were not for the arguments.
  const Rule* nearest = nullptr;
  ArgumentFault fault;  ///< of the nearest; its views live as long as the arguments and the rules
};

/// For logs: "default", "rule[2]", and of the short form "allow.tools".
std::string_view name_of(const AccessVerdict& verdict, AccessKind kind);

/// Whether the rule matches this tool, for some user and some arguments.
bool concerns_tool(const Rule& rule, std::string_view tool);

class Rights {
 public:
  /// No rights.
  Rights() = default;
  /// Keeps pointers to the rules.
  Rights(std::span<const Rule> rules, const Subject& subject);

  bool may_use_server() const;
  AccessVerdict decide(const AccessRequest& request) const;
  /// Whether it exists for this person: some arguments would pass, or be asked about.
  bool shows(AccessKind kind, std::string_view name) const;
  /// shows() is true of every name.
  bool shows_all(AccessKind kind) const;
  /// shows() is false for every name, even without deny rules.
  bool shows_none(AccessKind kind) const;
  /// Every name of the kind is allowed, whatever the arguments.
  bool allows_all(AccessKind kind) const;
  /// Whether the arguments of this tool's calls may decide; if not, they need not be read.
  bool wants_arguments(std::string_view tool) const;

  /// Allow and ask, as far as they bind the person; of a role that was taken, its own alone.
  const std::vector<const Rule*>& giving() const { return giving_; }
  /// Ask and deny, as far as they bind the person in any role.
  const std::vector<const Rule*>& taking() const { return taking_; }

 private:
  using Rules = std::vector<const Rule*>;

  Rules giving_;
  Rules taking_;
};

}  // namespace cellblock
