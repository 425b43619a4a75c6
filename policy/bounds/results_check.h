#pragma once

#include <vector>

#include "policy/bounds/result_rules.h"
#include "policy/bounds/results_text.h"
#include "policy/rates/calls_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// `scope`: of the main file's top level.
ResultBounds check_default_bounds(const Scope& scope, const ResultsText& text);
ResultKeeping check_keeping(const Scope& scope, const ResultsText& text);

/// `scope`: of the server. What it does not say is as in `[results]`, what a tool does not say as
/// for its server.
ServerResults check_server_results(const Scope& scope, const ResultBoundsText& text,
                                   const std::vector<ToolCallsText>& tools,
                                   const ResultBounds& defaults);

}  // namespace cellblock
