#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "client/cli/common/context.h"
#include "client/cli/install/package_installer.h"
#include "client/cli/install/places.h"
#include "client/cli/install/registry_report.h"
#include "client/cli/install/scratch.h"
#include "policy/base/result.h"

/// A package is installed in a cell, and what came out is checked before anything uses it.
namespace cellblock::cli {

// The tree that an installation left. Its files are untrusted; nothing changes them any more.

/// An error: more than 200,000 entries, which is as many as `program` takes, or than 2 GiB; or a
/// directory that cannot be read, in which there could be more.
Result<void> check_bounds(const std::string& tree);

/// Files and directories in it may be changed by everybody. Links are left alone.
Result<void> open_to_all(const std::string& tree);

enum class TreeKind : std::uint8_t {
  package,
  /// Links are copied wherever they lead, since they are followed in a cell with this root alone.
  /// What may be read or executed by its owner may be by everybody. Set-id bits are left out.
  image,
};

/// Copies plain files, directories and links that stay inside to `destination`, which must not be
/// there: owned by us, writable only by us. An error: anything else is in it (a device; in a
/// package a set-user-ID file, a link that leads out), or it is out of bounds; what was copied is
/// then removed.
Result<void> copy_tree(const std::string& tree, const std::string& destination,
                       TreeKind kind = TreeKind::package);

/// Whether what a package wants to run when it is installed is run: in a cell without a network.
enum class InstallScripts : std::uint8_t { left_out, run };

struct PackageInstall {
  std::string package;  ///< as the registry's installer takes it, with or without a version
  InstallScripts scripts = InstallScripts::left_out;
};

/// What an installation left.
struct InstalledTree {
  std::string directory;  ///< in the scratch: untrusted, and at rest, since its cell has ended
  RegistryReport report;  ///< empty: the installer asks no registry
};

/// Has a package installed in a cell that reaches the registry and nothing else, and holds no file
/// of the user's and no secret but the registry's token. An error: it could not be installed, or
/// the signature of a package does not fit.
Result<InstalledTree> install_package(const Context& context, const AddPlaces& places,
                                      const Scratch& scratch, const PackageInstaller& installer,
                                      const PackageInstall& wanted, const std::stop_token& stop);

/// An installed package, for its registry.
struct LockedPackage {
  std::string package;  ///< as the registry's installer takes it
  std::string lock;     ///< the text of its lock file
};

/// What the registry says of it now, asked in a cell as above.
Result<RegistryReport> ask_registry(const Context& context, const AddPlaces& places,
                                    const Scratch& scratch, const PackageInstaller& installer,
                                    const LockedPackage& locked, const std::stop_token& stop);

}  // namespace cellblock::cli
