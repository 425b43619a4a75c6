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
  std::optional<std::string> socket;  ///< overrides the configured one; absolute
  /// USER SERVER [TOOL [ARGUMENTS]]: print what that user may do.
  std::vector<std::string> explain;
  std::string role;           ///< with explain; empty: none
  bool json = false;          ///< with explain and reload: as one object
  bool check_only = false;    ///< read the configuration and print the verdict
  bool is_brief = false;      ///< with check_only: only what is wrong
  bool is_effective = false;  ///< with check_only: print the effective keys instead
  /// Print the keys of that table; empty: all keys.
  std::optional<std::string> keys;
  bool is_markdown = false;  ///< with keys: as a page
  bool schema = false;       ///< print the JSON Schema of the configuration
  bool doctor = false;       ///< print what this machine offers to cells
  bool reload = false;       ///< send the configuration to the running daemon: reload_client.h
  bool dry_run = false;      ///< with reload: only print what would change
  bool partial = false;      ///< with reload: leave changes that need a restart
  bool quiet = false;        ///< with reload: print errors only
};

/// Flags override CELLBLOCK_CONFIG. The error is an exit code, after --help, --version, or a
/// mistake that is explained on stderr.
std::expected<Options, int> parse_options(int argc, char** argv);

}  // namespace cellblock::daemon
