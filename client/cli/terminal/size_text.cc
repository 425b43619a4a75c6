#include "client/cli/terminal/size_text.h"

#include <fmt/format.h>

#include <array>

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

}  // namespace cellblock::cli
