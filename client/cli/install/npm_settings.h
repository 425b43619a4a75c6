#pragma once

#include <string>
#include <vector>

#include "client/cli/install/package_installer.h"
#include "policy/base/result.h"

/// How this machine's npm reaches its registry.
namespace cellblock::cli {

struct NpmSettings {
  std::string node;         ///< the program
  std::string npm;          ///< npm's own script
  std::string registry;     ///< of the package: "https://registry.example.org/"
  std::string others = {};  ///< of packages without a scope; empty: the same
  /// Lines of an `.npmrc`: the registries of scopes, and the tokens of `registry` and `others`.
  std::string credentials = {};
  std::string cafile;          ///< or empty
  std::string proxy;           ///< for the registry; or empty
  std::string unproxied = {};  ///< hosts that are reached without it, as npm's `noproxy` has them
  /// What a cell does not see of the host by itself: where node and npm are, the CA file.
  std::vector<std::string> read;
};

/// From npm's configuration for `package` ("@scope/name"): a scope may have a registry of its own,
/// and a registry a token in the user's `.npmrc`. An error: there is no npm, or a token that cannot
/// be used.
Result<NpmSettings> npm_settings(const std::string& package);

/// An error: an address of the registry or the proxy that no cell can be let to.
Result<PackageInstaller> npm_installer(const NpmSettings& settings);

}  // namespace cellblock::cli
