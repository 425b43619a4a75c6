#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/config.h"

namespace cellblock::daemon {

struct Options {
  RunMode mode = RunMode::system;
  std::string config;                 ///< absolute
  std::optional<std::string> socket;  ///< instead of the configured one; absolute
  /// USER SERVER [TOOL [ARGUMENTS]]: say what that user may do, and end.
  std::vector<std::string> explain;
  std::string role;           ///< with explain; empty: none
  bool json = false;          ///< with explain and reload: as one object
  bool check_only = false;    ///< read the configuration, print the verdict, end
  bool is_brief = false;      ///< with check_only: only what is wrong
  bool is_effective = false;  ///< with check_only: print what holds, key by key, in its place
  /// List the keys of that table, or all where it is empty, and end.
  std::optional<std::string> keys;
  bool is_markdown = false;  ///< with keys: as a page
  bool schema = false;       ///< print the JSON Schema of the configuration, and end
  bool doctor = false;       ///< print what this machine can give to cells, and end
  bool reload = false;       ///< bring it to the daemon that runs, and end: see reload_client.h
  bool dry_run = false;      ///< with reload: only tell what would change
  bool partial = false;      ///< with reload: leave for a restart what only that can change
  bool quiet = false;        ///< with reload: only what goes wrong
};

/// Flags win over CELLBLOCK_CONFIG. An exit code when there is nothing more to
/// do: --help, --version, or a mistake that was explained on stderr.
std::expected<Options, int> parse_options(int argc, char** argv);

}  // namespace cellblock::daemon
