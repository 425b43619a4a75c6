#pragma once

#include <vector>

#include "policy/config/result_rules.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

namespace cellblock {

/// `[results]`.
struct CheckedResults {
  ResultBounds bounds;
  ResultKeeping keeping;
};

/// `scope`: of the main file's top level.
CheckedResults check_results(const Scope& scope, const Written& written);

/// `scope`: of the server. What it does not say is as in `[results]`, what a tool does not say as
/// for its server.
ServerResults check_server_results(const Scope& scope, const Written& written,
                                   const std::vector<ToolText>& tools,
                                   const ResultBounds& defaults);

}  // namespace cellblock
