#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/common/context.h"
#include "client/cli/learn/observed.h"

namespace cellblock::cli {

/// What the daemon tells of one server from now on, asked for over a connection of its own.
class WatchedServer {
 public:
  static client::Result<WatchedServer> open(const Context& context, const std::string& server);

  /// What it has written to stderr since it was last asked.
  client::Result<void> read_on(Observed& observed);
  /// Once, at the end: what its cells were refused since the beginning.
  client::Result<void> read_refusals(Observed& observed);
  /// What it may use already, and how many cells it has.
  struct State {
    std::vector<DeclaredPath> declared;
    std::string network;
    std::vector<std::string> egress;  ///< its rules
    std::size_t cells = 0;
  };
  client::Result<State> state();

  /// Lets that time pass.
  void wait(std::chrono::milliseconds time) { static_cast<void>(connection_.serve_for(time)); }

 private:
  WatchedServer(client::Client connection, std::string server, std::int64_t since_ms)
      : connection_(std::move(connection)), server_(std::move(server)), since_ms_(since_ms) {}

  client::Result<std::string> ask(std::string_view method, const std::string& params);

  client::Client connection_;
  std::string server_;
  std::int64_t since_ms_;  ///< Unix time
  std::uint64_t next_line_ = 0;
};

}  // namespace cellblock::cli
