#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>

#include "supervisor/kernel/sys.h"
#include "supervisor/kernel/wire.h"

namespace cellblock::daemon {

/// Keeps an audit writer running: starts it through the launcher, and again, later and later, after
/// it died. The log stays open here, append-only, because nobody could open it again.
class AuditLink {
 public:
  using Ask = std::function<Result<void>(const wire::SupervisorRequest&, std::span<const int>)>;

  AuditLink(boost::asio::io_context& loop, Fd log, Ask ask_launcher);

  Result<void> start();
  // The launcher's reports.
  void started();
  void ended();

  /// Closes the control socket: the writer writes what is left and ends. ended() is not to be
  /// called for that end.
  void finish() { control_.reset(); }

  bool running() const { return running_; }
  /// Hands the writer the reading end of that user's audit channel. An error: without it the
  /// channel is dead, and the gateway refuses calls until it is given a new one.
  Result<void> add_source(std::uint32_t uid, Fd reading_end) const;

 private:
  void start_again_later();

  Ask ask_;
  Fd log_;
  Fd control_;
  bool running_ = false;
  std::chrono::milliseconds delay_;
  std::chrono::steady_clock::time_point started_at_;
  boost::asio::steady_timer timer_;
};

}  // namespace cellblock::daemon
