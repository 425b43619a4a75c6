#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/host_files/entry_place.h"
#include "policy/base/result.h"

/// Where servers stand in the text of a host's configuration. Pure.
namespace cellblock::cli {

/// Of all forms that `import` reads: `mcpServers`, `servers`, `context_servers`, `mcp_servers`. An
/// error: the text is neither JSON with comments nor TOML.
Result<std::vector<HostEntry>> host_entries(std::string_view text);

/// Program and arguments; empty: it has none.
std::vector<std::string> command_of_entry(const nlohmann::ordered_json& value);

/// Whether it is `cellblock connect` or `cellblock run`.
bool is_cellblock(const nlohmann::ordered_json& value);

/// The same entry with that command line in the place of its own: no variables, no directory of it
/// are left, and what the host itself reads stays.
nlohmann::ordered_json connecting_entry(nlohmann::ordered_json value,
                                        const std::vector<std::string>& arguments);

}  // namespace cellblock::cli
