#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/import/read/declared_server.h"

/// What proposing a declaration needs to know of this machine: its files, and packages installed on
/// it.
namespace cellblock::cli {

// A package of PyPI in a directory of its own, as `pip install --target` leaves it.

/// Its program is the one of its name, or the one that it has alone, in DIRECTORY/bin. None where
/// two things in DIRECTORY say that they are this package.
std::optional<InstalledPackage> installed_by_pip(const std::string& directory,
                                                 const std::string& package);

/// Names under [console_scripts] of an entry_points.txt. Pure.
std::vector<std::string> console_scripts(const std::string& entry_points);

/// As PyPI compares names: "Mcp_Server.git" is "mcp-server-git". Pure.
std::string normal_name(const std::string& package);

enum class PathKind : std::uint8_t { absent, file, directory };

/// What a proposal asks about this machine. Only to look at: nothing is run, nothing changed.
struct MachineView {
  std::function<PathKind(const std::string& path)> kind_of;
  /// Where a program of that name is that every cell sees; empty: nowhere.
  std::function<std::string(const std::string& name)> find_program;
  /// Below that directory, as npm installs it.
  std::function<std::optional<InstalledPackage>(const std::string& prefix,
                                                const PackageName& package)>
      installed;
};

/// Where the admin is told to put what servers need.
struct Places {
  std::string programs;  ///< a directory for each server in it
  std::string secrets;   ///< a file for each secret in it
  /// Where the one server that is proposed is installed already; empty: in a directory of its name.
  std::string installed = {};

  std::string directory_of(const std::string& server) const {
    return installed.empty() ? programs + "/" + server : installed;
  }
};

/// This machine.
MachineView this_machine();

}  // namespace cellblock::cli
