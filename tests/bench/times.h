#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace cellblock::bench {

using Nanoseconds = std::chrono::duration<double, std::nano>;

inline Nanoseconds percentile(std::vector<Nanoseconds> values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

}  // namespace cellblock::bench
