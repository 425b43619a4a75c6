#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/import/read/bundle_settings.h"
#include "client/cli/import/read/declared_server.h"
#include "policy/base/result.h"

/// `cellblock add NAME -- FILE`: a packed MCP bundle, or the server.json of a registry.
namespace cellblock::cli {

/// Whether that line is one file which describes a server: a zip archive, or a file "*.json".
bool is_described_file(const std::vector<std::string>& command);

/// Asks the user for a setting. None: there is no terminal, or no answer.
using AskSetting = std::function<std::optional<std::string>(const BundleSetting& setting)>;

struct DescribedFile {
  std::string path;                         ///< as it was typed
  std::vector<std::string> given;           ///< KEY=VALUE for what it asks for
  std::vector<DeclaredVariable> variables;  ///< that were given by name
  AskSetting ask;
};

/// The server of that file: a bundle with its settings filled in, or the line of a package of npm
/// or PyPI. An error: something that it asks for is missing, or it describes no server that can be
/// had.
Result<DeclaredServer> described_server(const DescribedFile& file);

/// A package's server as a host would write it: `npx -y NAME@VERSION`. Pure.
Result<DeclaredServer> as_package_line(DeclaredServer server);

}  // namespace cellblock::cli
