#pragma once

#include "client/cli/install/image_source.h"
#include "client/cli/install/package_installer.h"
#include "client/cli/install/registry_rules.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// Fetches an image with this machine's skopeo, and unpacks it with umoci. An error: one of them is
/// missing, or a cell cannot be let to the registry.
Result<PackageInstaller> image_installer(const ImageSource& source, const PrivateAddresses& meant);

}  // namespace cellblock::cli
