#pragma once

#include <chrono>
#include <cstdint>

namespace cellblock::gateway {

/// For people, in logs and status. What is measured uses the steady clock.
inline std::int64_t unix_milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace cellblock::gateway
