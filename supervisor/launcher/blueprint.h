#pragma once

#include <linux/filter.h>

#include <optional>
#include <string>
#include <vector>

#include "policy/config.h"
#include "supervisor/launcher/child_plan.h"
#include "supervisor/launcher/seccomp_filter.h"
#include "supervisor/launcher/setup_failure.h"

namespace cellblock::launcher {

/// All that one kind of cell has in common, prepared at start-up; a spawn only copies from it.
struct Blueprint {
  std::string name;
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< "NAME=value", without secrets
  Network network = Network::own;
  FilterProgram filter;
  ChildPlan::Listener listener = ChildPlan::Listener::report;
  std::vector<ResourceLimit> limits;
  std::string tmp_options;
  std::string shm_options;
  std::string working_directory;
  Fd root;                             ///< of the template
  std::optional<SetupFailure> broken;  ///< why it could not be prepared; then no cell can start
};

/// Everything but the root template. Links of `environment` are: what a cell has by itself, then
/// what the TOML declares.
Result<Blueprint> blueprint_of(const Server& server);

/// cellblock's own processes live in cells as well.
Result<Blueprint> gateway_blueprint();
Result<Blueprint> audit_writer_blueprint();

/// Where those two find their programs inside their cells.
inline constexpr char program_directory[] = "/cellblock";

}  // namespace cellblock::launcher
