#include "client/cli/host_files/host_places.h"

#include <array>

namespace cellblock::cli {
namespace {

struct KnownPlace {
  const char* host;
  const char* path;
};

constexpr std::array<KnownPlace, 9> below_home = {{
    {"Claude Code", "/.claude.json"},
    {"Claude Desktop", "/.config/Claude/claude_desktop_config.json"},
    {"VS Code", "/.config/Code/User/mcp.json"},
    {"Cursor", "/.cursor/mcp.json"},
    {"Codex", "/.codex/config.toml"},
    {"Gemini CLI", "/.gemini/settings.json"},
    {"Zed", "/.config/zed/settings.json"},
    {"Windsurf", "/.codeium/windsurf/mcp_config.json"},
    {"Cline",
     "/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
}};

constexpr std::array<KnownPlace, 5> in_project = {{
    {"Claude Code", "/.mcp.json"},
    {"VS Code", "/.vscode/mcp.json"},
    {"Cursor", "/.cursor/mcp.json"},
    {"Codex", "/.codex/config.toml"},
    {"Gemini CLI", "/.gemini/settings.json"},
}};

}  // namespace

std::vector<HostPlace> host_places(const std::string& home, const std::string& here) {
  std::vector<HostPlace> places;
  places.reserve(below_home.size() + in_project.size());
  for (const auto& [host, path] : below_home) places.push_back({.host = host, .path = home + path});
  if (here == home) return places;
  for (const auto& [host, path] : in_project) places.push_back({.host = host, .path = here + path});
  return places;
}

}  // namespace cellblock::cli
