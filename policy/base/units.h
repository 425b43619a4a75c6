#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/base/result.h"

/// Numbers with units, as they stand in the TOML. Strict: no blanks, signs, fractions, or missing
/// units, so that no value can be read two ways. Errors say what is allowed.
namespace cellblock {

/// "64KiB", "512MiB", "2GiB", "1TiB", "1KB" (1000), "1MB", "1GB", "100B" -> bytes.
Result<std::uint64_t> parse_size(std::string_view text);

/// "500ms", "30s", "2m", "1h", "7d"; at most 31 days.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

/// "0660": four octal digits, the first 0 -> permission bits.
Result<std::uint32_t> parse_mode(std::string_view text);

/// The largest unit that divides it: 512 << 20 -> "512MiB".
std::string size_text(std::uint64_t bytes);
std::string duration_text(std::chrono::milliseconds time);
std::string mode_text(std::uint32_t mode);

}  // namespace cellblock
