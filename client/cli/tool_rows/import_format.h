#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/result.h"

/// What is read: by whose words servers are declared.
namespace cellblock::cli {

enum class ImportFormat : std::uint8_t {
  mcp_servers,  ///< `mcpServers`: Claude Desktop, Claude Code, Cursor, Gemini CLI and others
  vscode,       ///< `servers`
  codex,        ///< `mcp_servers`, in TOML
  zed,          ///< `context_servers`
  registry,     ///< server.json
  bundle,       ///< the manifest of an MCPB bundle
};

/// The words of --from.
std::vector<std::string> import_format_names();
std::optional<ImportFormat> import_format_named(std::string_view name);

/// Decides by the members that only one format has. An error: none of them, or several.
Result<ImportFormat> recognised_format(const nlohmann::ordered_json& document);

}  // namespace cellblock::cli
