#include "client/cli/terminal/unit_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <ctime>

namespace cellblock::cli {

std::string size_text(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < units.size()) {
    size /= 1024;
    ++unit;
  }
  const bool whole = size == static_cast<double>(static_cast<std::uint64_t>(size));
  return whole ? fmt::format("{} {}", static_cast<std::uint64_t>(size), units.at(unit))
               : fmt::format("{:.1f} {}", size, units.at(unit));
}

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
