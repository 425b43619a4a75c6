#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "supervisor/handover/reload_protocol.h"
#include "supervisor/process/readable_fd.h"

namespace cellblock::daemon {

/// Serves one reload at a time: the asker is root's `cellblockd --reload`, or the supervisor's
/// child after SIGHUP. Reads only descriptors. One thread.
class ReloadServer {
 public:
  struct Asker {
    std::uint32_t uid = 0;
    std::int32_t pid = 0;
  };
  struct Around {
    std::function<Result<ReloadMessage>()> offer;
    std::function<void(const Asker&, ReloadRequest)> asked;
    std::function<void(Fd)> close_later;
  };
  /// Covers the time of commands that print secrets.
  static constexpr std::chrono::milliseconds default_patience{300'000};

  ReloadServer(boost::asio::io_context& loop, Around around,
               std::chrono::milliseconds patience = default_patience);

  void add(const Asker& asker, Fd socket);
  /// Sends the connected asker, if any, the answer: a first line with the result, then any further
  /// lines.
  void answer(std::string_view text);
  /// Drops every connection.
  void close();

 private:
  void read();
  void leave(std::string_view text);

  boost::asio::io_context& loop_;
  Around around_;
  const std::chrono::milliseconds patience_;
  boost::asio::steady_timer timer_;
  Asker asker_;
  Fd socket_;                          ///< not valid: no asker is connected
  std::unique_ptr<ReadableFd> watch_;  ///< of a copy: closing the last copy may block
  bool closed_ = false;
};

}  // namespace cellblock::daemon
