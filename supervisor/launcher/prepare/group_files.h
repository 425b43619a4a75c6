#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"

/// What stands in the files of a cell's control group: Documentation/admin-guide/cgroup-v2.rst of
/// the kernel. Pure.
namespace cellblock::launcher {

/// One limit: the text written to the file, which then is one of its lines or the beginning of one.
struct GroupSetting {
  std::string file;
  std::string text;
  bool operator==(const GroupSetting&) const = default;
};

/// The limits of a cell. Where the controller is missing, only what the configuration waives is
/// left out (`limits.require = false`, and pids.max, which RLIMIT_NPROC stands in for): writing the
/// rest fails, and with it the start.
std::vector<GroupSetting> group_settings(const Server& server, const Cgroup& cgroup);

/// Whether the file says now what was written to it.
bool holds(std::string_view content, const GroupSetting& setting);

/// What all processes of a cell used together; 0: not known.
struct GroupUsage {
  std::uint64_t cpu_microseconds = 0;
  std::uint64_t memory_peak = 0;  ///< bytes
  std::uint32_t pids_peak = 0;
  std::uint32_t oom_kills = 0;  ///< processes that the kernel killed for want of memory
  bool operator==(const GroupUsage&) const = default;
};

/// The contents of cpu.stat, memory.events, memory.peak and pids.peak; empty: there is no such
/// file.
struct UsageTexts {
  std::string cpu_stat;
  std::string memory_events;
  std::string memory_peak;
  std::string pids_peak;
};

GroupUsage usage_of(const UsageTexts& texts);

/// How much of the last ten seconds some of them waited for it, in hundredths of a percent.
struct GroupPressure {
  std::optional<std::uint32_t> memory;
  std::optional<std::uint32_t> cpu;
  std::optional<std::uint32_t> io;
  bool operator==(const GroupPressure&) const = default;
};

/// The contents of memory.pressure, cpu.pressure and io.pressure.
struct PressureTexts {
  std::string memory;
  std::string cpu;
  std::string io;
};

/// What they use while they run; 0: not known.
struct GroupUsageNow {
  std::uint64_t memory = 0;       ///< bytes
  std::uint64_t memory_peak = 0;  ///< bytes
  std::uint64_t cpu_microseconds = 0;
  std::uint64_t tasks = 0;  ///< without cellblock's own
  GroupPressure pressure;
  bool operator==(const GroupUsageNow&) const = default;
};

/// The contents of cpu.stat, memory.current, memory.peak, pids.current and cgroup.threads, of which
/// the last stands in for the one before; empty: there is no such file.
struct UsageNowTexts {
  std::string cpu_stat;
  std::string memory_current;
  std::string memory_peak;
  std::string pids_current;
  std::string threads;
  PressureTexts pressure;
};

GroupUsageNow usage_now_of(const UsageNowTexts& texts);

}  // namespace cellblock::launcher
