#pragma once

#include <cstdint>

#include "policy/config/config.h"

/// RLIMIT_DATA of cellblock's own programs in cells: what they allocate, in bytes. A program that
/// needs more ends by itself and says so (memory_limit.h). Each is several times what the program
/// may hold by its own bounds, so that only a fault or an attack reaches it. Pure.
namespace cellblock::launcher::data_limits {

inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

inline constexpr std::uint64_t audit_writer = 256 * mebibyte;
inline constexpr std::uint64_t egress = 512 * mebibyte;
inline constexpr std::uint64_t metrics = 512 * mebibyte;  ///< 16 scrapers, each 16 MiB unread

/// 1 GiB (of which lines that have not ended and answers that are not read take 256 MiB), the
/// results that a user's sessions keep, and 16 messages of the greatest length: each stands there
/// as it came, parsed, and as it is sent on.
std::uint64_t gateway(const Config& config);

/// 2 GiB, or more where messages may be long: eight times the longest one wait for a caller that
/// takes nothing, and all callers share this program.
std::uint64_t http(const Config& config);

}  // namespace cellblock::launcher::data_limits
