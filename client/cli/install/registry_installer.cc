#include "client/cli/install/registry_installer.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/cli/import/propose/machine_view.h"
#include "client/cli/install/image_source.h"
#include "client/cli/install/installer_scripts.h"
#include "client/cli/install/npm_settings.h"
#include "client/cli/install/pip_settings.h"
#include "client/cli/install/program_output.h"
#include "client/cli/programs/program_start.h"

namespace cellblock::cli {
namespace {

Result<std::string> needed_program(const std::string& name) {
  const auto found = this_machine().find_program(name);
  if (!found.empty()) return trusted_program(found);
  return fail(
      fmt::format("images are fetched by skopeo and unpacked by umoci, in a cell: {} is not among "
                  "the host's programs (Debian: apt-get install skopeo umoci python3), then try "
                  "again",
                  name));
}

std::string configured_proxy() {
  for (const char* name : {"HTTPS_PROXY", "https_proxy"}) {
    if (auto proxy = environment_variable(name); !proxy.empty()) return proxy;
  }
  return {};
}

Result<void> add_network(const ImageSource& source, const PrivateAddresses& meant,
                         PackageInstaller& installer) {
  CELLBLOCK_CHECK(add_named_registry_rules("https://" + source.registry, meant, installer.egress));
  installer.private_addresses = private_rules(installer.egress);
  for (const auto& rule : source.egress) {
    if (std::ranges::find(installer.egress, rule) == installer.egress.end()) {
      installer.egress.push_back(rule);
    }
  }
  const auto proxy = configured_proxy();
  if (proxy.empty()) return {};
  installer.variables.emplace_back("HTTPS_PROXY", proxy);
  return add_registry_rules(proxy, installer.egress);
}

// Fetches an image with this machine's skopeo, and unpacks it with umoci. An error: one of them is
// missing, or a cell cannot be let to the registry.
Result<PackageInstaller> image_installer(const ImageSource& source, const PrivateAddresses& meant) {
  for (const char* program : {"skopeo", "umoci"}) CELLBLOCK_CHECK(needed_program(program));
  const std::string hosts = source.egress.empty() ? "" : " and where it keeps images";
  PackageInstaller installer{.reaches = source.registry + hosts,
                             .program = CELLBLOCK_TRY(needed_program("python3")),
                             .script_name = "image_installer.py",
                             .script = image_installer_script,
                             .profile = "python",
                             .lock = "image.lock"};
  if (source.path.empty()) {
    CELLBLOCK_CHECK(add_network(source, meant, installer));
  } else {
    installer.read.push_back(source.path + ":/image");
  }
  return installer;
}

}  // namespace

Result<PackageInstaller> installer_for(const PackageName& package, const PrivateAddresses& meant) {
  if (package.registry == Registry::image) {
    return image_installer(CELLBLOCK_TRY(image_source(package.name)), meant);
  }
  if (package.registry == Registry::pypi) return pip_installer(CELLBLOCK_TRY(pip_settings()));
  return npm_installer(CELLBLOCK_TRY(npm_settings(package.name)));
}

}  // namespace cellblock::cli
