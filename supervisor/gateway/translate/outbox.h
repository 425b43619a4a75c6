#pragma once

#include <deque>
#include <string>
#include <utility>

#include "supervisor/gateway/translate/bridge.h"

namespace cellblock::gateway {

/// What a bridge says, until the bridge has finished thinking: who hears it may answer within the
/// very call, and must find a bridge that is done with its tables.
class Outbox {
 public:
  void to_host(std::string text) { waiting_.emplace_back(To::host, std::move(text)); }
  void to_server(std::string text) { waiting_.emplace_back(To::server, std::move(text)); }

  /// A call from within its own deliveries leaves the rest to the outer one, so that order holds.
  void deliver(BridgeEffects& effects) {
    if (delivering_) return;
    delivering_ = true;
    while (!waiting_.empty()) {
      const auto [to, text] = std::move(waiting_.front());
      waiting_.pop_front();
      if (to == To::host) {
        effects.to_host(text);
      } else {
        effects.to_server(text);
      }
    }
    delivering_ = false;
  }

 private:
  enum class To : bool { host, server };
  std::deque<std::pair<To, std::string>> waiting_;
  bool delivering_ = false;
};

}  // namespace cellblock::gateway
