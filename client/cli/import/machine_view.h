#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "client/cli/import/declared_server.h"

namespace cellblock::cli {

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
