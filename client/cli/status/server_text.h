#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "client/cli/terminal/style.h"

namespace cellblock::cli {

/// All that status knows of one server, below its line in the table: what it may do, what it was
/// refused, its cells. Lines are not cut here; everything in them is escaped.
std::string server_details(const nlohmann::ordered_json& server, Style style);

/// One line about what a server's cells were refused; empty if nothing was. `of`: " --for USER" for
/// another user's server.
std::string denied_summary(const nlohmann::ordered_json& server, Style style,
                           const std::string& of);

}  // namespace cellblock::cli
