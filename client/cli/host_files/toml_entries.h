#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cli/host_files/entry_place.h"
#include "policy/base/result.h"

/// Codex's `[mcp_servers.NAME]`: tables that begin with a header of their own. Pure.
namespace cellblock::cli {

/// Entries in another form of TOML (inline, dotted keys) are left out.
Result<std::vector<HostEntry>> toml_entries(std::string_view text);

/// The text of that entry, with `command`, `args` and `env_vars` as given; lines that say something
/// else stay as they are. An error: it is written in a way that this cannot be done with.
Result<std::string> connecting_toml(std::string_view block,
                                    const std::vector<std::string>& arguments);

/// Codex starts servers with few of its variables; a user's own daemon is found by that one.
inline constexpr const char* passed_variable = "XDG_RUNTIME_DIR";

}  // namespace cellblock::cli
