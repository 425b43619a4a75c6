#pragma once

#include <string>
#include <vector>

#include "client/connection/fd.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// A program that runs beside us, with our stdin, and with one pipe for all that it writes. It
/// finds the daemon's socket in CELLBLOCK_SOCKET.
class SessionCommand {
 public:
  static Result<SessionCommand> start(const std::vector<std::string>& words,
                                      const std::string& socket);

  /// Readable: it wrote something; end of file: it and all that it started have ended.
  int output() const { return output_.get(); }
  void terminate() const;
  /// Closes what it writes to, if it still does. In words how it failed; empty: it did not.
  std::string wait();

 private:
  SessionCommand(pid_t process, client::OwnedFd output)
      : process_(process), output_(std::move(output)) {}

  pid_t process_;
  client::OwnedFd output_;
};

}  // namespace cellblock::cli
