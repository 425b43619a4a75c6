#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/propose/import_file.h"
#include "client/cli/import/propose/propose.h"
#include "tests/fuzz/check.h"

/// For the fuzz targets of `cellblock import`.
namespace cellblock::fuzz {

/// One on which most of what is asked for is there, by rules that need no disk.
inline cli::MachineView imagined_machine() {
  return {.kind_of =
              [](const std::string& path) {
                if (path.size() % 3 == 0) return cli::PathKind::absent;
                return path.size() % 3 == 1 ? cli::PathKind::file : cli::PathKind::directory;
              },
          .find_program =
              [](const std::string& name) {
                return name.size() % 2 == 0 ? std::string() : "/usr/bin/" + name;
              },
          .installed =
              [](const std::string& prefix, const cli::PackageName& package) {
                return package.name.size() % 2 == 0
                           ? std::optional<cli::InstalledPackage>()
                           : cli::InstalledPackage{prefix + "/entry.js", "1.2.3"};
              }};
}

inline void check_command(const toml::table& table, const cli::Proposal& proposal) {
  const toml::array* command = table["server"][proposal.name]["command"].as_array();
  CELLBLOCK_FUZZ_CHECK(command != nullptr && command->size() == proposal.command.size());
}

/// What is written reads as TOML with just the servers that were proposed, and what is said to a
/// person has no control character.
inline void check_proposals(const std::vector<cli::DeclaredServer>& servers) {
  const auto proposals =
      cli::propose_all(servers, imagined_machine(), {"/opt/mcp", "/etc/secrets"});
  if (!proposals) return;
  const std::string text = cli::cell_toml(*proposals);
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error&) {
    CELLBLOCK_FUZZ_CHECK(false);
  }
  std::size_t cells = 0;
  for (const cli::Proposal& proposal : *proposals) {
    if (!proposal.obstacle.empty()) continue;
    ++cells;
    check_command(table, proposal);
  }
  const toml::table* named = table["server"].as_table();
  CELLBLOCK_FUZZ_CHECK((named == nullptr ? 0 : named->size()) == cells);
  CELLBLOCK_FUZZ_CHECK(table.size() == (cells == 0 ? 0U : 1U));
  const std::string summary = cli::import_summary(*proposals);
  CELLBLOCK_FUZZ_CHECK(std::ranges::none_of(
      summary, [](unsigned char byte) { return (byte < ' ' && byte != '\n') || byte == 0x7f; }));
}

}  // namespace cellblock::fuzz
