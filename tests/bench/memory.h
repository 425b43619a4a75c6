#pragma once

#include <cstdint>

/// Proportional set size, as /proc/PID/smaps_rollup has it. Needs the right to look into the
/// processes.
namespace cellblock::bench {

struct Memory {
  unsigned processes = 0;
  std::uint64_t pss_kib = 0;
};

struct MemoryOfDaemon {
  Memory own;      ///< cellblock's own processes, those inside the cells included
  Memory servers;  ///< what was executed in the cells
};

/// The daemon with that pid and everything below it.
MemoryOfDaemon memory_of(int daemon);

}  // namespace cellblock::bench
