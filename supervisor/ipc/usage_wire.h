#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

/// wire.h for what cells use: launcher -> gateway, in a CellEvent.
namespace cellblock::wire {

inline constexpr std::uint32_t pressure_unknown = 0xffff'ffff;

/// How much of the last ten seconds some process of a cell waited for it, in hundredths of a
/// percent.
struct CellPressure {
  std::uint32_t memory = pressure_unknown;
  std::uint32_t cpu = pressure_unknown;
  std::uint32_t io = pressure_unknown;
  std::uint32_t padding = 0;
};

/// What the processes of one cell use; 0: not known.
struct CellUsage {
  std::uint64_t cell = 0;
  std::uint64_t memory = 0;       ///< bytes, with its tmpfs
  std::uint64_t memory_peak = 0;  ///< bytes
  std::uint64_t cpu_microseconds = 0;
  std::uint64_t tasks = 0;  ///< processes and threads, without cellblock's own
  CellPressure pressure;
};

inline constexpr std::uint32_t usages_in_record = 8;

/// Of the next cells in order. Empty while the launcher was asked too often: the last page still
/// holds.
struct UsagePage {
  std::uint8_t count = 0;
  std::uint8_t more = 0;  ///< not 0: of cells behind these too
  std::array<std::uint8_t, 6> reserved{};
  std::array<CellUsage, usages_in_record> cells{};
};

static_assert(std::is_trivially_copyable_v<UsagePage>);

}  // namespace cellblock::wire
