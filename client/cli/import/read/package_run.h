#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cli/import/read/declared_server.h"
#include "policy/base/result.h"

/// npx, uvx and their like: commands that fetch a package and run a program of it.
namespace cellblock::cli {

struct PackageRun {
  PackageName package;
  std::string program;  ///< of the package's; empty: the one that it has
  std::vector<std::string> arguments;
};

/// None: such a command it is not. An error: it is, but what it would run cannot be told.
Result<std::optional<PackageRun>> package_run(const std::vector<std::string>& command);

/// "@scope/name@1.2.3", "name==1.2.3". An error: nothing that the registry has by name, or a name
/// that would be more than a word to a shell. A range or a tag is no version:
/// it is in `range`.
Result<PackageName> package_named(Registry registry, const std::string& text);

/// As the registry's installer takes it, with VERSION where no version is known.
std::string pinned(const PackageName& package);

}  // namespace cellblock::cli
