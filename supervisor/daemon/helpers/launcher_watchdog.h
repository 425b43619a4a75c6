#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>

#include "policy/base/result.h"

namespace cellblock::daemon {

/// Pings the launcher at a steady pace, one ping at a time. While a ping is not answered there is
/// no other, and no sign of life to the service manager.
class LauncherWatchdog {
 public:
  using Ask = std::function<Result<void>()>;

  LauncherWatchdog(boost::asio::io_context& loop, std::chrono::microseconds interval, Ask ask);

  enum class Answer : std::uint8_t { due, unasked };
  Answer answered();

 private:
  void ask_later();
  void beat();

  std::chrono::microseconds interval_;
  Ask ask_;
  boost::asio::steady_timer timer_;
  bool asked_ = false;
};

}  // namespace cellblock::daemon
