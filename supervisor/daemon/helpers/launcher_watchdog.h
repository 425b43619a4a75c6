#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>

#include "policy/base/result.h"

namespace cellblock::daemon {

/// Asks at a steady pace whether the launcher is well, one question at a time: as long as one is
/// not answered there is no other, and no sign of life to the service manager.
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
