#pragma once

#include <string>
#include <vector>

#include "client/cli/tool_rows/host_kind.h"

/// What a host's configuration says of servers that cellblock runs.
namespace cellblock::cli {

struct ConnectCommand {
  std::vector<std::string> flags;    ///< before `connect`: which daemon
  std::vector<std::string> servers;  ///< a connection each
};

/// The text of that host's file; ends with a newline.
std::string host_configuration(Host host, const ConnectCommand& command);

}  // namespace cellblock::cli
