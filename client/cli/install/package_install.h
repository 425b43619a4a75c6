#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "client/cli/common/context.h"
#include "client/cli/install/package_installer.h"
#include "client/cli/install/places.h"
#include "client/cli/install/scratch.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// Whether what a package wants to run when it is installed is run: in a cell without a network.
enum class InstallScripts : std::uint8_t { left_out, run };

struct PackageInstall {
  std::string package;  ///< as the registry's installer takes it, with or without a version
  InstallScripts scripts = InstallScripts::left_out;
};

/// Has a package installed in a cell that reaches the registry and nothing else, and holds no
/// secret and no file of the user's. The directory with what came out, in `scratch`: untrusted, and
/// at rest, since its cell has ended.
Result<std::string> install_package(const Context& context, const AddPlaces& places,
                                    const Scratch& scratch, const PackageInstaller& installer,
                                    const PackageInstall& wanted, const std::stop_token& stop);

struct InstallPlaces {
  std::string script;  ///< the directory with the installer's script
  std::string output;  ///< the directory that is filled
  unsigned user = 0;   ///< who calls it
};

/// The declarations of the cells in which that is done. Pure.
std::string installing_cells(const PackageInstaller& installer, const InstallPlaces& places);

}  // namespace cellblock::cli
