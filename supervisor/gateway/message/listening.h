#pragma once

#include <cstdint>

namespace cellblock::gateway {

/// What a host wants to hear of a server, beside answers.
enum class Listening : std::uint8_t {
  nothing,
  lists,  ///< that one has changed, and nothing else
  more,
};

}  // namespace cellblock::gateway
