#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cellblock::metrics {

/// All numbers at one moment, in the order of policy/metrics/families.h.
struct Snapshot {
  std::vector<std::uint64_t> daemon;
  std::vector<std::uint64_t> gateways;  ///< the sum over all
};

inline constexpr char content_type[] = "text/plain; version=0.0.4; charset=utf-8";

/// The text format of Prometheus. `servers`: their names, in the order of the configuration.
std::string exposition(const Snapshot& snapshot, const std::vector<std::string>& servers);

}  // namespace cellblock::metrics
