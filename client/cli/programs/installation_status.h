#pragma once

#include <string>

#include "cellblock/error.h"
#include "client/cli/common/context.h"

namespace cellblock::cli {

/// The socket on which administrators get the status of the whole installation.
std::string installation_socket(const Context& context);

/// The daemon's status of its whole installation, raw JSON: every declared server. For
/// administrators: `refused` for others, `unreachable` without such a socket.
client::Result<std::string> ask_installation(const Context& context);

}  // namespace cellblock::cli
