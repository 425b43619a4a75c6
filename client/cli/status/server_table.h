#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/cli/terminal/style.h"

/// All servers of a status on a screen: a line each.
namespace cellblock::cli {

/// `width`: of the terminal; 0: no bound.
std::string server_table(const std::vector<nlohmann::ordered_json>& servers, Style style,
                         std::size_t width);

/// "3 servers: 1 failed, 2 ready"; empty for one.
std::string server_counts(const std::vector<nlohmann::ordered_json>& servers);

}  // namespace cellblock::cli
