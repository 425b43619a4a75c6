#include "client/cli/terminal/time_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace cellblock::cli {

std::string duration_text(std::chrono::milliseconds duration) {
  const auto ms = duration.count();
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  if (ms < 3'600'000) return fmt::format("{} min", ms / 60'000);
  if (ms < 86'400'000) return fmt::format("{} h", ms / 3'600'000);
  return fmt::format("{} d", ms / 86'400'000);
}

std::string moment_text(std::int64_t at_ms) {
  const std::time_t seconds = at_ms / 1000;
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr) return "?";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", parts);
}

}  // namespace cellblock::cli
