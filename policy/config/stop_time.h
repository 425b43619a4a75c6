#pragma once

#include <algorithm>
#include <chrono>

#include "policy/config/config.h"

namespace cellblock {

/// How long it takes until everything has ended by itself: calls in flight for `drain`,
/// then the slowest server and `slack`, these two in no more than `longest`.
inline std::chrono::milliseconds time_to_stop(const Config& config, std::chrono::milliseconds slack,
                                              std::chrono::milliseconds longest) {
  std::chrono::milliseconds slowest{0};
  for (const Server& server : config.servers) {
    slowest = std::max(slowest, server.timeouts.end_of_input + server.timeouts.terminate);
  }
  return std::min(slowest + slack, longest) + config.drain;
}

}  // namespace cellblock
