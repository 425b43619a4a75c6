#pragma once

#include <cstdint>

namespace cellblock::gateway {

/// When an attached server's cell starts.
enum class StartWhen : std::uint8_t {
  now,        ///< before the first message; the host's session ends with it
  on_demand,  ///< when a message needs it, and again after its end
};

}  // namespace cellblock::gateway
