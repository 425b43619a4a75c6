#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "supervisor/daemon/process/readable_fd.h"
#include "supervisor/daemon/sockets/reload_protocol.h"

namespace cellblock::daemon {

/// Where another configuration is brought, by one at a time: by root, who has read the files, or by
/// a child of ours. Nothing but descriptors is taken. One thread.
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
  /// Commands that print secrets may be waited for meanwhile.
  static constexpr std::chrono::milliseconds default_patience{300'000};

  ReloadServer(boost::asio::io_context& loop, Around around,
               std::chrono::milliseconds patience = default_patience);

  void add(const Asker& asker, Fd socket);
  /// To whoever stands there, if somebody does: one line, and then as many as there are to say.
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
  Fd socket_;                          ///< not valid: nobody stands there
  std::unique_ptr<ReadableFd> watch_;  ///< of a copy: who closes the last one may block
  bool closed_ = false;
};

}  // namespace cellblock::daemon
