#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "client/cli/install/private_daemon.h"
#include "client/cli/learn/observed.h"

namespace cellblock::cli {

/// What became of a server's first start.
struct Trial {
  std::vector<std::string> tools;  ///< their names: untrusted
  std::optional<client::Error> failure;
  std::vector<RefusedOperation> refused;
};

/// Starts it in its cell, asks for its tools, and ends it. The server is declared to that daemon;
/// an error is the daemon's own.
client::Result<Trial> try_server(const PrivateDaemon& daemon, const std::string& server,
                                 const std::stop_token& stop);

}  // namespace cellblock::cli
