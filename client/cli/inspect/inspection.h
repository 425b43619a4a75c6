#pragma once

#include <string>

#include "client/cli/context.h"
#include "client/cli/inspect/command.h"
#include "client/cli/inspect/peer.h"

namespace cellblock::cli {

/// Asks the peer what this command asks, and writes the answer to stdout as `context` says, errors
/// to stderr. Of the commands that arguments can give.
Exit carry_out(const Context& context, Peer& peer, const InspectCommand& command);

}  // namespace cellblock::cli
