#pragma once

#include <string>

#include "client/cli/install/package_installer.h"
#include "policy/base/result.h"

/// How this machine's pip reaches its index.
namespace cellblock::cli {

struct PipSettings {
  std::string python;            ///< the program, below /usr
  std::string index;             ///< "https://index.example.org/simple"
  std::string files;             ///< another host that has the files of that index; or empty
  std::string credentials = {};  ///< a line of a netrc file for the index's host; or empty
  std::string cert;              ///< a CA file, or empty
  std::string proxy;             ///< or empty
};

/// From pip's configuration, its environment and uv's, and the user's netrc file. An error: there
/// is no pip for the Python that cells see, or a token that cannot be used.
Result<PipSettings> pip_settings();

/// What `pip config list` says of a key ("index-url"): the environment's word comes first, then
/// that for `install`, then the global one. Empty: nothing. Pure.
std::string pip_value(const std::string& list, const std::string& key);

/// An error: no cell can be let to the index.
Result<PackageInstaller> pip_installer(const PipSettings& settings);

}  // namespace cellblock::cli
