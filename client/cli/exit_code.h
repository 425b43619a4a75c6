#pragma once

#include <string>

#include "cellblock/error.h"

/// How the command ends: docs/cli.md has the same table.
namespace cellblock::cli {

enum class Exit : int {
  ok = 0,
  error = 1,
  usage = 2,
  tool_error = 3,     ///< the tool ran and says that it failed
  refused = 4,        ///< by the policy, or the server refused the request
  server_failed = 5,  ///< it could not start, crashed or was stopped
  unreachable = 6,    ///< no connection to the daemon, or it broke
  timed_out = 7,
  busy = 8,  ///< too many connections or calls, no audit log, the daemon is stopping
};

Exit exit_for(client::ErrorCode code);

/// What to do next, as a sentence; empty if there is nothing to advise.
std::string advice_for(client::ErrorCode code, const std::string& socket);

}  // namespace cellblock::cli
