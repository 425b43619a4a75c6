#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

/// Time as the gateway's machines see it: handed in with each event, never asked for.
namespace cellblock::gateway {

using Milliseconds = std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

/// For people, in logs and status. What is measured uses the steady clock.
inline std::int64_t unix_milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// A deadline of a machine. The machine sets it; the adaptor's timer, or a test, rings it.
class Alarm {
 public:
  using Rings = std::function<void(Time now)>;

  virtual ~Alarm() = default;
  /// nullopt: not at all. Replaces what was set before.
  virtual void set(std::optional<Milliseconds> from_now) = 0;
};

}  // namespace cellblock::gateway
