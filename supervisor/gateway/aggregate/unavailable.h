#pragma once

#include <cstdint>
#include <string>

namespace cellblock::gateway {

/// A server that is not, or not wholly, in an answer.
struct Unavailable {
  std::uint32_t server = 0;
  std::string reason;
  std::string brief;  ///< the same in a few words, none of them the server's own
};

}  // namespace cellblock::gateway
