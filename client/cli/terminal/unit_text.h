#pragma once

#include <chrono>
#include <cstdint>
#include <string>

/// Sizes, times and durations for people.
namespace cellblock::cli {

/// "12 KiB", "3.5 MiB".
std::string size_text(std::uint64_t bytes);

/// "12 ms", "3.5 s", "4 min", "2 h", "9 d".
std::string duration_text(std::chrono::milliseconds duration);

/// Unix time as the local "2026-11-22 05:30:00".
std::string moment_text(std::int64_t at_ms);

}  // namespace cellblock::cli
