#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/propose/proposal.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/package_run.h"
#include "client/cli/install/registry_rules.h"
#include "policy/base/result.h"

/// What `cellblock add` declares for a server: out of what it was told, and of what is known of the
/// package.
namespace cellblock::cli {

/// What is known of a package: data that comes with cellblock, in share/cellblock/recipes.
struct Recipe {
  std::string package;               ///< "@scope/name", or "https://host" of a remote server
  bool writes_paths = false;         ///< directories among its arguments are for writing
  std::string needs;                 ///< what its first argument has to be; empty: none is needed
  std::vector<std::string> egress;   ///< entries of egress.allow
  std::vector<std::string> secrets;  ///< variables without which it does not start
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<std::string> arguments;  ///< put before those that were given
  std::string profile;                 ///< empty: the runtime's
  std::vector<std::pair<std::string, std::string>> limits;
};

/// The text of one file. An error names the key.
Result<Recipe> read_recipe(const std::string& text);

/// What is wrong where the recipes did not come along with the program; empty: they are there.
std::string missing_recipes();

/// None: nothing is known of it. Names are compared whole: a name that is nearly a known one gets
/// nothing. An error: the file cannot be read.
Result<std::optional<Recipe>> recipe_for(const std::string& package);

/// An error: `arguments`, those that its line has, lack what it needs.
Result<void> check_arguments(const Recipe& recipe, const std::vector<std::string>& arguments);

/// The options that give what is missing: " --env TOKEN"; empty: nothing is.
std::string missing_secrets(const Recipe& recipe, const std::vector<DeclaredVariable>& given);

/// Fills in what the declaration itself does not say.
void follow(const Recipe& recipe, Proposal& proposal);

/// What `cellblock add` was told.
struct AddedServer {
  DeclaredServer declared;
  std::vector<std::string> read;  ///< besides what its arguments name
  std::vector<std::string> write;
  std::vector<std::string> egress;
  std::vector<std::string> users;
  std::vector<std::string> runtime_paths;  ///< what a cell does not see by itself: where node is
  PrivateAddresses private_addresses;      ///< at which the registry that its line names may be
  bool is_described = false;               ///< a file says what it is: perhaps a stranger's
  std::string home;                        ///< of who adds it, which no server is given as a whole
};

/// An error: a word begins with "./" or "../", and nothing is there. `command`: as it was typed.
Result<void> check_relative_paths(const std::vector<std::string>& command,
                                  const std::string& directory, const MachineView& machine);

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
