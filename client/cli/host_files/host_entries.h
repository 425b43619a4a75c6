#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/result.h"

/// Finds the servers in the text of a host's configuration. Pure.
namespace cellblock::cli {

/// A server in the text of a host's configuration.
struct HostEntry {
  std::vector<std::string> path;  ///< of names: {"projects", "/p", "mcpServers", "files"}
  std::size_t begin = 0;          ///< of its text: an object, or in TOML its tables, whole lines
  std::size_t end = 0;
  nlohmann::ordered_json value;

  const std::string& name() const { return path.back(); }
};

/// Reads all forms that `import` reads: `mcpServers`, `servers`, `context_servers`, `mcp_servers`.
/// An error: the text is neither JSON with comments nor TOML.
Result<std::vector<HostEntry>> host_entries(std::string_view text);

/// Program and arguments; empty: it has none.
std::vector<std::string> command_of_entry(const nlohmann::ordered_json& value);

/// Whether it is `cellblock connect` or `cellblock run`.
bool is_cellblock(const nlohmann::ordered_json& value);

/// The same entry with that command line in the place of its own: no variables, no directory of it
/// are left, and what the host itself reads stays.
nlohmann::ordered_json connecting_entry(nlohmann::ordered_json value,
                                        const std::vector<std::string>& arguments);

// Codex keeps `[mcp_servers.NAME]` in TOML: tables with headers of their own.

/// Entries in another form of TOML (inline, dotted keys) are left out.
Result<std::vector<HostEntry>> toml_entries(std::string_view text);

/// The text of that entry, with `command`, `args` and `env_vars` as given; lines that say something
/// else stay as they are. An error: it is written in a way that this cannot be done with.
Result<std::string> connecting_toml(std::string_view block,
                                    const std::vector<std::string>& arguments);

/// Codex starts servers with few of its variables; a user's own daemon is found by that one.
inline constexpr const char* passed_variable = "XDG_RUNTIME_DIR";

}  // namespace cellblock::cli
