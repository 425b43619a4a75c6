#include "client/cli/install/registry_installer.h"

#include "client/cli/install/image_settings.h"
#include "client/cli/install/image_source.h"
#include "client/cli/install/npm_settings.h"
#include "client/cli/install/pip_settings.h"

namespace cellblock::cli {

Result<PackageInstaller> installer_for(const PackageName& package, const PrivateAddresses& meant) {
  if (package.registry == Registry::image) {
    return image_installer(CELLBLOCK_TRY(image_source(package.name)), meant);
  }
  if (package.registry == Registry::pypi) return pip_installer(CELLBLOCK_TRY(pip_settings()));
  return npm_installer(CELLBLOCK_TRY(npm_settings(package.name)));
}

}  // namespace cellblock::cli
