#pragma once

#include <linux/filter.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/launcher/child/child_plan.h"
#include "supervisor/launcher/child/landlock_ruleset.h"
#include "supervisor/os/sys.h"
#include "supervisor/seccomp/seccomp_filter.h"

namespace cellblock::launcher {

/// Whether what stands at `path` in the cell's root is still the file that `stamp` was taken of.
/// Links inside the root are followed, and nothing leads out of it. `root`: a template.
SysResult<bool> command_unchanged(int root, const char* path, const FileStamp& stamp);

/// With the declared paths of one client as that client's.
struct OwnerTemplate {
  std::uint32_t uid = 0;
  Fd root;
  std::optional<SetupFailure> broken;
};

/// All that one kind of cell has in common, prepared at start-up; a spawn only copies from it.
struct CellTemplate {
  std::string name;
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< "NAME=value", without secrets
  NetworkMode network = NetworkMode::none;
  std::shared_ptr<const FilterProgram> filter;
  LandlockRuleset landlock;
  ChildPlan::Listener listener = ChildPlan::Listener::report;
  ResourceLimits limits{};
  std::string tmp_options;
  std::string shm_options;
  std::string home_options;  ///< of a tmpfs where a request brings no home; empty: none
  unsigned long home_flags = 0;
  std::vector<std::string> home_files;  ///< of `home_files`: paths below the home
  std::string working_directory;
  Fd program;                          ///< what is executed, if it is not command[0]
  Fd root;                             ///< of the template
  std::optional<SetupFailure> broken;  ///< why it could not be prepared; then no cell can start
  /// Templates for the clients whose cells have owner mounts, instead of `root`.
  std::vector<OwnerTemplate> of_owners;
};

/// What this user's cells are made from; an error: why they cannot be.
SetupResult<int> root_for(const CellTemplate& blueprint, std::uint32_t user);

/// Why cells cannot be started; nullopt: at least all those for whose users it was made can.
std::optional<SetupFailure> failure_of(const CellTemplate& blueprint);

/// Everything but the root template and the Landlock ruleset, which follow from the root's plan.
Result<CellTemplate> blueprint_of(const Server& server, FilterCache& filters);

/// A command that runs a module (`python -m`) takes none from where it starts, if the server may
/// write there. `root`: a template, in which the working directory is followed through all links.
void keep_modules_apart(CellTemplate& blueprint, const Server& server, const Fd& root);

/// cellblock's own processes live in cells as well. `program` is executed by its descriptor, so
/// that neither the launcher nor the cell needs a path to it.
/// `data_limit`: RLIMIT_DATA, in bytes (data_limits.h).
Result<CellTemplate> gateway_blueprint(Fd program, std::uint64_t data_limit);
Result<CellTemplate> audit_writer_blueprint(Fd program);
Result<CellTemplate> http_blueprint(Fd program, std::uint64_t data_limit);
/// May do what cellblock-http may: accept, read and write.
Result<CellTemplate> metrics_blueprint(Fd program);
/// In the host's network: it dials for a server that has none of its own.
Result<CellTemplate> egress_blueprint(Fd program);

}  // namespace cellblock::launcher
