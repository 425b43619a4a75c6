#include "client/cli/bridge/crash_pauses.h"

#include <algorithm>
#include <utility>

namespace cellblock::cli {

std::optional<std::chrono::milliseconds> CrashPauses::after(std::chrono::milliseconds lived) {
  if (lived >= sound) *this = {};
  if (++in_a_row_ > most_in_a_row) return std::nullopt;
  return std::exchange(next_, std::min(2 * next_, longest));
}

}  // namespace cellblock::cli
