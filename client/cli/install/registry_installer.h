#pragma once

#include "client/cli/import/read/declared_server.h"
#include "client/cli/install/package_installer.h"
#include "client/cli/install/registry_rules.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// From the configuration of this machine's npm or pip, or for an image from its reference.
/// `meant`: for a registry that is a part of the name. An error: there is none, or a cell cannot be
/// shown it.
Result<PackageInstaller> installer_for(const PackageName& package, const PrivateAddresses& meant);

}  // namespace cellblock::cli
