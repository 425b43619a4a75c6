#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cli/import/declared_server.h"

/// A package of PyPI in a directory of its own, as `pip install --target` leaves it.
namespace cellblock::cli {

/// Its program is the one of its name, or the one that it has alone, in DIRECTORY/bin. None where
/// two things in DIRECTORY say that they are this package.
std::optional<InstalledPackage> installed_by_pip(const std::string& directory,
                                                 const std::string& package);

/// Names under [console_scripts] of an entry_points.txt. Pure.
std::vector<std::string> console_scripts(const std::string& entry_points);

/// As PyPI compares names: "Mcp_Server.git" is "mcp-server-git". Pure.
std::string normal_name(const std::string& package);

}  // namespace cellblock::cli
