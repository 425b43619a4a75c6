#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "client/cli/import/declared_server.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// The registry's server.json: of its packages the first that can be installed here, or why none.
Result<std::vector<DeclaredServer>> servers_of_registry(const nlohmann::ordered_json& document);

}  // namespace cellblock::cli
