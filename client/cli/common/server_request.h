#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

/// The server that a command is asked for, and the servers that are missing from a list of all.
namespace cellblock::cli {

/// Which server, and how it is reached.
struct ServerRequest {
  std::string server;
  std::string workspace;  ///< a directory, or empty
  std::string role;       ///< to be narrowed to, or empty
  std::chrono::milliseconds timeout{60'000};
};

/// The servers that are not in a list of all servers at once, and why: out of the frames that bring
/// the list.
class MissingServers {
 public:
  /// A line from the daemon. Others than answers that name such servers are nothing to it.
  void see(std::string_view frame);
  /// A line for each, escaped, with its newline. Then they are forgotten.
  std::string take();

 private:
  std::map<std::string, std::string> reasons_;  ///< by server
};

}  // namespace cellblock::cli
