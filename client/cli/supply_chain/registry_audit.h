#pragma once

#include <string>

#include "client/cli/add/new_server.h"
#include "client/cli/supply_chain/server_audit.h"

namespace cellblock::cli {

/// Asks the registry of an added server, in a cell. What went wrong is `error` of the result.
ServerAudit audit_server(const Work& work, const std::string& server);

}  // namespace cellblock::cli
