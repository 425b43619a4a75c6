#pragma once

#include <string>
#include <string_view>

namespace cellblock::daemon {

/// The service manager's notification socket (sd_notify(3)). Takes NOTIFY_SOCKET out of the
/// environment, so that nothing started later can speak for us. Without one nothing is sent.
class ServiceNotify {
 public:
  ServiceNotify();

  bool is_there() const { return !address_.empty(); }

  /// "READY=1". Best effort: the manager notices a missing message by its own timeout.
  void send(std::string_view state) const;

 private:
  std::string address_;
};

}  // namespace cellblock::daemon
