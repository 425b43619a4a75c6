#pragma once

#include <cstdint>
#include <string>

namespace cellblock {

/// Where metrics are read: one of the two.
struct MetricsListen {
  std::string socket;  ///< absolute path of a Unix socket; empty: none
  std::uint32_t mode = 0660;
  std::uint16_t port = 0;  ///< on 127.0.0.1; 0: none
  bool operator==(const MetricsListen&) const = default;
};

}  // namespace cellblock
