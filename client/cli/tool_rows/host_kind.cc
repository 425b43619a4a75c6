#include "client/cli/tool_rows/host_kind.h"

#include <algorithm>
#include <array>

namespace cellblock::cli {
namespace {

constexpr std::array<HostFacts, 7> host_table = {{
    {"claude-desktop", "claude_desktop_config.json in ~/.config/Claude", "mcpServers"},
    {"claude-code", ".mcp.json in the project, or ~/.claude.json", "mcpServers"},
    {"vscode", ".vscode/mcp.json in the workspace, or mcp.json of the profile", "servers"},
    {"cursor", ".cursor/mcp.json in the project, or ~/.cursor/mcp.json", "mcpServers"},
    {"codex", "~/.codex/config.toml", "mcp_servers"},
    {"gemini", ".gemini/settings.json in the project, or ~/.gemini/settings.json", "mcpServers"},
    {"zed", "~/.config/zed/settings.json", "context_servers"},
}};

}  // namespace

std::vector<std::string> host_names() {
  std::vector<std::string> names;
  names.reserve(host_table.size());
  for (const auto& facts : host_table) names.emplace_back(facts.name);
  return names;
}

std::optional<Host> host_named(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      host_table, [name](const HostFacts& facts) { return facts.name == name; });
  if (found == host_table.end()) return std::nullopt;
  return static_cast<Host>(found - host_table.begin());
}

HostFacts facts_of(Host host) { return host_table.at(static_cast<std::size_t>(host)); }

}  // namespace cellblock::cli
