#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace cellblock::daemon {

/// The service manager's notification socket (sd_notify(3)). Without one nothing is sent.
class ServiceNotify {
 public:
  /// `address`: as NOTIFY_SOCKET has it; empty: there is none.
  explicit ServiceNotify(std::string address) : address_(std::move(address)) {}

  bool is_there() const { return !address_.empty(); }

  /// "READY=1". Best effort: the manager notices a missing message by its own timeout.
  void send(std::string_view state) const;

 private:
  std::string address_;
};

}  // namespace cellblock::daemon
