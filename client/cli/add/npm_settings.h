#pragma once

#include <string>
#include <vector>

#include "policy/base/result.h"

/// How this machine's npm reaches its registry.
namespace cellblock::cli {

struct NpmSettings {
  std::string node;            ///< the program
  std::string npm;             ///< npm's own script
  std::string registry;        ///< "https://registry.example.org/"
  std::string cafile;          ///< or empty
  std::string proxy;           ///< for the registry; or empty
  std::string unproxied = {};  ///< hosts that are reached without it, as npm's `noproxy` has them
  /// What a cell does not see of the host by itself: where node and npm are, the CA file.
  std::vector<std::string> read;
};

/// As npm's configuration says for `package` ("@scope/name"): a scope may have a registry of its
/// own. Tokens are not taken over. An error: there is no npm.
Result<NpmSettings> npm_settings(const std::string& package);

/// Entries of egress.allow for the hosts of `settings`: names, and where a name leads to an address
/// that is not public, that address as well: npm's configuration names it, so it is meant. An
/// error: an address of the registry or the proxy that cannot be read.
Result<std::vector<std::string>> registry_rules(const NpmSettings& settings);

}  // namespace cellblock::cli
