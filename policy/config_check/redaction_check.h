#pragma once

#include <array>
#include <map>
#include <string>

#include "policy/config/redaction_rules.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/table_text.h"

namespace cellblock {

/// What was chosen, before it is said of each detector.
struct RedactionPlan {
  RedactionChoice secrets = RedactionRules{}.secrets;
  RedactionChoice credentials;
  RedactionChoice pii;
  RedactionChoice phi;
  std::map<std::string, RedactionChoice> detectors;
  std::map<std::string, ExpressionRule> expressions;
};

/// `scope`: of the table above `redaction`. What is not written there is as in `defaults`.
RedactionPlan check_redaction(const Scope& scope, const RedactionText& text,
                              RedactionPlan defaults);

/// A detector of several sets does the strictest that one of them says, unless it is named itself.
RedactionRules rules_of(const RedactionPlan& plan);

}  // namespace cellblock
