#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/cli/import/read/declared_server.h"
#include "policy/base/result.h"

/// Servers as packages describe them: the manifest of a bundle, the server.json of a registry.
namespace cellblock::cli {

/// The manifest of an MCPB bundle as it stands: all placeholders are left. `obstacle`: why it
/// cannot run here.
Result<DeclaredServer> unfilled_bundle(const nlohmann::ordered_json& document,
                                       const DeclaredBundle& bundle);

/// The same, with the defaults of what it asks its user for. `${__dirname}` stays in its
/// command, as in what it asks its user for (`${user_config.x}`) what has no default.
Result<std::vector<DeclaredServer>> servers_of_bundle(const nlohmann::ordered_json& document,
                                                      const DeclaredBundle& bundle);

/// The registry's server.json: of its packages the first that can be installed here, or why none.
Result<std::vector<DeclaredServer>> servers_of_registry(const nlohmann::ordered_json& document);

}  // namespace cellblock::cli
