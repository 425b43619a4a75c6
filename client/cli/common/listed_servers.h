#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cellblock::cli {

/// The names in an answer to cellblock/status; what is no server's name is left out.
std::vector<std::string> listed_servers(std::string_view status_json);

}  // namespace cellblock::cli
