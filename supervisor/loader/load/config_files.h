#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "policy/config/config_bytes.h"
#include "policy/config_check/config_check.h"
#include "supervisor/loader/load/cgroup_text.h"
#include "supervisor/os/sys.h"

/// Reads the configuration from disk: the main file, then `servers.d/*.toml` beside it. Every file
/// is opened once; owner, mode and all directories above it are checked on opened descriptors.
/// Blocking; called before any socket listens.
namespace cellblock {

/// SHA-256 of all that may change a server's catalogue: its declaration, the timeout for finding
/// its era where that is not declared, and the state (device, inode, size, change time) of the
/// files that its command names and of all files below its `program` (the paths that are in
/// `programs`). Files that cannot be read count as missing. Used only to decide whether a kept
/// catalogue is still valid. Blocking.
std::array<std::uint8_t, 32> server_fingerprint(const Server& server, const CatalogueRules& rules,
                                                const std::set<std::string>& programs);

struct LoadRequest {
  std::string path;
  RunMode mode = RunMode::system;
  std::optional<std::string> socket_override;
  daemon::LookPurpose purpose = daemon::LookPurpose::start;
  /// The running daemon's configuration, for facts that this process may not read: the control
  /// group, and the owners of directories that are closed to it. Null: no daemon runs.
  const Config* in_use = nullptr;
  /// $CREDENTIALS_DIRECTORY, if it is open already (open_service_credentials); null: it is not.
  const Fd* credentials = nullptr;
};

struct LoadedConfig {
  Config config;
  /// The caller wipes them; no other copy is left. Secrets of commands are empty: see
  /// secret_commands.h.
  Secrets secrets;
  std::vector<Complaint> warnings;
  std::vector<std::string> files;  ///< all files that were read, the main one first
  std::map<std::string, std::string, std::less<>> declared_in;  ///< server to file
};

/// All complaints at once, errors and warnings, if there is any error.
std::expected<LoadedConfig, std::vector<Complaint>> load_config(const LoadRequest& request);

/// /etc/cellblock/cellblock.toml; rootless $XDG_CONFIG_HOME or ~/.config,
/// /cellblock/cellblock.toml.
std::string default_config_path(RunMode mode);

}  // namespace cellblock
