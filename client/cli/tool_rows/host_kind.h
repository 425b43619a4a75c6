#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The hosts whose configurations `cellblock export` writes.
namespace cellblock::cli {

enum class Host : std::uint8_t { claude_desktop, claude_code, vscode, cursor, codex, gemini, zed };

/// Each a row of the same index.
struct HostFacts {
  const char* name;
  const char* place;  ///< of its file
  const char* key;    ///< of the table of servers in it
};

/// The words of `cellblock export`.
std::vector<std::string> host_names();
std::optional<Host> host_named(std::string_view name);
HostFacts facts_of(Host host);

}  // namespace cellblock::cli
