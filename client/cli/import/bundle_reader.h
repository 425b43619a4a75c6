#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/cli/import/declared_server.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// The manifest of an MCPB bundle. `${__dirname}` stays in its
/// command, as in what it asks its user for (`${user_config.x}`) what has no default.
Result<std::vector<DeclaredServer>> servers_of_bundle(const nlohmann::ordered_json& document,
                                                      const DeclaredBundle& bundle);

}  // namespace cellblock::cli
