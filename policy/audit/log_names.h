#pragma once

#include <cstdint>
#include <string>

namespace cellblock::audit {

/// More files than any log has: `audit.keep` and the one that is written.
inline constexpr std::uint32_t most_files = 65;

/// The files of one log are written in turn: PATH, PATH.1, PATH.2 and so on, and again from PATH.
inline std::string log_file_name(const std::string& path, std::uint32_t index) {
  return index == 0 ? path : path + "." + std::to_string(index);
}

}  // namespace cellblock::audit
