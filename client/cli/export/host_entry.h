#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a host's configuration says of servers that cellblock runs.
namespace cellblock::cli {

enum class Host : std::uint8_t { claude_desktop, claude_code, vscode, cursor, codex, gemini, zed };

struct HostFacts {
  const char* name;
  const char* place;  ///< of its file
};

/// The words of `cellblock export`.
std::vector<std::string> host_names();
std::optional<Host> host_named(std::string_view name);
HostFacts facts_of(Host host);

struct ConnectCommand {
  std::vector<std::string> flags;    ///< before `connect`: which daemon
  std::vector<std::string> servers;  ///< a connection each
};

/// As it stands in that host's file; ends with a newline.
std::string host_configuration(Host host, const ConnectCommand& command);

}  // namespace cellblock::cli
