#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/context.h"

/// One function a command. Each writes its result to stdout and its errors to stderr.
namespace cellblock::cli {

struct CallRequest {
  std::string server;
  std::string tool;
  std::vector<std::string> pairs;  ///< --arg k=v
  std::string arguments;           ///< a JSON object, or empty
  std::chrono::milliseconds timeout{60'000};
};

Exit run_tools(const Context& context, const std::string& server,
               std::chrono::milliseconds timeout);
Exit run_call(const Context& context, const CallRequest& request);
Exit run_status(const Context& context, const std::string& server);
Exit run_logs(const Context& context, const std::string& server, unsigned lines);
Exit run_stop(const Context& context, const std::string& server);
Exit run_restart(const Context& context, const std::string& server);
Exit run_version(const Context& context);

/// Becomes `cellblockd --check`, so that what checks is what runs; its exit code is ours. With
/// --json its report is caught instead.
Exit run_check(const Context& context, const std::string& path);

/// The stdio bridge.
Exit run_connect(const Context& context, const std::string& server);

}  // namespace cellblock::cli
