#include "supervisor/daemon/helpers/launcher_watchdog.h"

#include <utility>

namespace cellblock::daemon {

LauncherWatchdog::LauncherWatchdog(boost::asio::io_context& loop,
                                   std::chrono::microseconds interval, Ask ask)
    : interval_(interval), ask_(std::move(ask)), timer_(loop) {
  beat();
}

LauncherWatchdog::Answer LauncherWatchdog::answered() {
  return std::exchange(asked_, false) ? Answer::due : Answer::unasked;
}

void LauncherWatchdog::ask_later() {
  timer_.expires_after(interval_);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) beat();
  });
}

// A launcher whose channel is full is not well: a failed ping is no sign of life.
void LauncherWatchdog::beat() {
  if (!asked_) asked_ = ask_().has_value();
  ask_later();
}

}  // namespace cellblock::daemon
