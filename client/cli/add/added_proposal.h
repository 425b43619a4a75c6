#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cli/add/recipe.h"
#include "client/cli/import/declared_server.h"
#include "client/cli/import/machine_view.h"
#include "client/cli/import/package_run.h"
#include "client/cli/import/proposal.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// What `cellblock add` was told.
struct AddedServer {
  DeclaredServer declared;
  std::vector<std::string> read;  ///< besides what its arguments name
  std::vector<std::string> write;
  std::vector<std::string> egress;
  std::vector<std::string> users;
  std::vector<std::string> runtime_paths;  ///< what a cell does not see by itself: where node is
};

/// The command with relative paths made whole, as they are in `directory`: words with a slash, and
/// an interpreter's script, where such a file or directory is there.
std::vector<std::string> with_whole_paths(const std::vector<std::string>& command,
                                          const std::string& directory, const MachineView& machine);

/// What `allow.tools` says so that these may be called and no others: their names; all, where one
/// has a name that would be read as a pattern, or there are more than can be listed.
std::vector<std::string> allowed_tools(const std::vector<std::string>& offered);

/// Whether the paths and hosts that were asked for can be declared: before anything is installed.
Result<void> check_requested_access(const AddedServer& added, const MachineView& machine);

/// With the paths and hosts that were asked for, and who may use it.
Result<Proposal> with_requested_access(const AddedServer& added, const MachineView& machine,
                                       Proposal proposal);

/// The finished declaration: nothing in it is left to do. An error says what is missing.
Result<Proposal> added_proposal(const AddedServer& added, const std::optional<Recipe>& recipe,
                                const MachineView& machine, const Places& places);

}  // namespace cellblock::cli
