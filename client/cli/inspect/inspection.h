#pragma once

#include <string>

#include "client/cli/common/context.h"
#include "client/cli/inspect/peer.h"
#include "client/cli/tool_rows/inspect_command.h"

namespace cellblock::cli {

/// Opens the peer. Where the session ends without a word, as it does when its server crashes before
/// it was asked anything, the daemon is asked for the cause.
client::Result<void> open_peer(const Context& context, Peer& peer, const std::string& server,
                               const std::string& workspace);

/// Asks the peer what this command asks, and writes the answer to stdout as `context` says, errors
/// to stderr. Of the commands that arguments can give.
Exit carry_out(const Context& context, Peer& peer, const InspectCommand& command);

}  // namespace cellblock::cli
