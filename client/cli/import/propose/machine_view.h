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

/// The program is the one with the package's name, or the only one, in DIRECTORY/bin. No value
/// where two parts of DIRECTORY claim to be this package.
std::optional<InstalledPackage> installed_by_pip(const std::string& directory,
                                                 const std::string& package);

/// Names under [console_scripts] of an entry_points.txt. Pure.
std::vector<std::string> console_scripts(const std::string& entry_points);

/// The name as PyPI compares it: "Mcp_Server.git" is "mcp-server-git". Pure.
std::string normal_name(const std::string& package);

enum class PathKind : std::uint8_t { absent, file, directory };

/// What a proposal asks about this machine. Only to look at: nothing is run, nothing changed.
struct MachineView {
  std::function<PathKind(const std::string& path)> kind_of;
  /// The path of a program of that name that every cell sees; empty: there is none.
  std::function<std::string(const std::string& name)> find_program;
  /// Below that directory, as npm installs it.
  std::function<std::optional<InstalledPackage>(const std::string& prefix,
                                                const PackageName& package)>
      installed;
};

/// The places that the administrator is told to use for what servers need.
struct Places {
  std::string programs;  ///< a directory for each server in it
  std::string secrets;   ///< a file for each secret in it
  /// The directory in which the proposed server is installed already; empty: a directory of its
  /// name.
  std::string installed = {};

  std::string directory_of(const std::string& server) const {
    return installed.empty() ? programs + "/" + server : installed;
  }
};

/// This machine.
MachineView this_machine();

}  // namespace cellblock::cli
