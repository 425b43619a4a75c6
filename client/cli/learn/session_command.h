#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "client/connection/fd.h"
#include "policy/base/result.h"

/// The program whose session is watched, and what it writes, line by line.
namespace cellblock::cli {

/// Cuts what comes in pieces into lines. Of a long line only the beginning is kept.
class SessionLines {
 public:
  static constexpr std::size_t longest = 8192;

  void add(std::string_view text, const auto& take) {
    while (!text.empty()) {
      const auto end = text.find('\n');
      keep(text.substr(0, end));
      if (end == std::string_view::npos) return;
      take(std::string_view(line_));
      line_.clear();
      text.remove_prefix(end + 1);
    }
  }

 private:
  void keep(std::string_view part) {
    line_ += part.substr(0, longest - std::min(longest, line_.size()));
  }

  std::string line_;
};

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
