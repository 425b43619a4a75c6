#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "policy/config/config.h"
#include "policy/config/config_bytes.h"
#include "supervisor/handover/launcher_process.h"
#include "tests/containment/root_helper.h"
#include "tests/integration/test_directory.h"

namespace cellblock::containment {

/// The program cellblock-launcher with a supervisor that has just what cellblockd has: it starts
/// it, writes its map, and then has no capability any more. The gateway does what it is told.
class LauncherRig {
 public:
  LauncherRig(const Config& config, const Secrets& secrets);

  /// Empty, or why there is no launcher.
  const std::string& trouble() const { return trouble_; }

  /// "reloaded", or "not reloaded: REFUSAL, server INDEX, errno"
  std::string reload(const Config& next);

  /// With a gateway for a user who may use these. Empty, or why there is none.
  std::string start_gateway(const ServerSet& servers);
  void permit_only(const ServerSet& servers);
  /// Whether that is what the launcher tells next.
  bool is_next(wire::LauncherReportKind report);
  /// What the gateway answers (tests/fixtures/obeying_gateway.cc).
  std::string tell_gateway(const std::string& word, int workspace = -1);
  /// The first line that such a command writes in a new cell of that server, which is a shell, or
  /// the refusal.
  std::string in_cell(std::uint32_t server, const std::string& command, int workspace = -1);

  /// As root: "look" (what the launcher has open and mounted, without numbers), "mount PATH",
  /// "write PATH" (its content is its name).
  std::string as_root(const std::string& word);

 private:
  Result<void> start_launcher(const Config& config, const Secrets& secrets);

  std::optional<daemon::LauncherProcess> launcher_;
  std::unique_ptr<RootHelper> root_;
  std::string trouble_;
  Fd audit_;
  Fd log_;
  Fd gateway_;  ///< the supervisor's end
};

/// A configuration with that directory for its state, and no servers.
Config rig_config(const harness::TestDirectory& directory);
/// A server that is a shell.
Server shell_server(const std::string& name);

/// What `body` says with a launcher of its own, or why there was none. As root: in a mount
/// namespace of its own, whose mounts propagate.
std::string with_launcher(const Config& config,
                          const std::function<std::string(LauncherRig&)>& body);

}  // namespace cellblock::containment
