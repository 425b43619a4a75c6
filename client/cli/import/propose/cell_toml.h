#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cli/import/propose/proposal.h"

namespace cellblock::cli {

/// Proposals as configuration. What others wrote stands in it as TOML's strings or, in comments,
/// escaped and on one line.
std::string cell_toml(const std::vector<Proposal>& proposals);

/// The table of one server alone. Where its users are known nothing is left to the admin.
std::string server_toml(const Proposal& proposal);

/// A TOML string with its quotes, for any text.
std::string toml_text(std::string_view text);

}  // namespace cellblock::cli
