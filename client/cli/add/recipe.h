#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/import/declared_server.h"
#include "client/cli/import/proposal.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// What is known of a package: data that comes with cellblock, in share/cellblock/recipes.
struct Recipe {
  std::string package;               ///< "@scope/name"
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

/// None: nothing is known of it. Names are compared whole: a name that is nearly a known one gets
/// nothing. An error: the file cannot be read.
Result<std::optional<Recipe>> recipe_for(const std::string& package);

/// An error: `arguments`, those that its line has, lack what it needs.
Result<void> check_arguments(const Recipe& recipe, const std::vector<std::string>& arguments);

/// The options that give what is missing: " --env TOKEN"; empty: nothing is.
std::string missing_secrets(const Recipe& recipe, const std::vector<DeclaredVariable>& given);

/// Fills in what the declaration itself does not say.
void follow(const Recipe& recipe, Proposal& proposal);

}  // namespace cellblock::cli
