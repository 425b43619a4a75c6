#pragma once

#include <vector>

#include "policy/config/result_rules.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/calls_text.h"
#include "policy/config_reader/results_text.h"

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
