#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "client/cli/add/npm_settings.h"
#include "client/cli/add/places.h"
#include "client/cli/add/scratch.h"
#include "client/cli/common/context.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// Whether what a package wants to run when it is installed is run: in a cell without a network.
enum class InstallScripts : std::uint8_t { left_out, run };

struct PackageInstall {
  std::string package;  ///< "@scope/name@1.2.3", or without a version
  InstallScripts scripts = InstallScripts::left_out;
};

/// Has npm install a package in a cell that reaches the registry and nothing else, and holds no
/// secret and no file of the user's. The directory with what came out, in `scratch`: untrusted, and
/// at rest, since its cell has ended.
Result<std::string> install_package(const Context& context, const AddPlaces& places,
                                    const Scratch& scratch, const NpmSettings& settings,
                                    const PackageInstall& wanted, const std::stop_token& stop);

/// The declarations of the cells in which that is done. Pure.
std::string installing_cells(const NpmSettings& settings, const std::vector<std::string>& egress,
                             const std::string& script, const std::string& output, unsigned user);

}  // namespace cellblock::cli
