#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "client/cli/import/read/declared_server.h"
#include "client/cli/tool_rows/import_format.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// One entry of the table.
Result<DeclaredServer> server_of_entry(const std::string& name,
                                       const nlohmann::ordered_json& entry);

/// The servers of a host's configuration: of every format but registry and bundle.
Result<std::vector<DeclaredServer>> servers_of_host(const nlohmann::ordered_json& document,
                                                    ImportFormat format);

}  // namespace cellblock::cli
