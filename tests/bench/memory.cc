#include "tests/bench/memory.h"

#include <fmt/format.h>

#include <fstream>
#include <string>

#include "tests/integration/left_behind.h"

namespace cellblock::bench {
namespace {

std::uint64_t pss_of(int pid) {
  std::ifstream file(fmt::format("/proc/{}/smaps_rollup", pid));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Pss:")) return std::stoull(line.substr(4));
  }
  return 0;
}

}  // namespace

MemoryOfDaemon memory_of(int daemon) {
  MemoryOfDaemon memory;
  std::vector<int> pids = harness::descendants_of(daemon);
  pids.push_back(daemon);
  for (const int pid : pids) {
    // A cell's init and guardian are forks of the launcher, and bear its name.
    const bool is_own = harness::command_line(pid).find("cellblock") != std::string::npos &&
                        harness::command_line(pid).find("_server") == std::string::npos;
    Memory& part = is_own ? memory.own : memory.servers;
    ++part.processes;
    part.pss_kib += pss_of(pid);
  }
  return memory;
}

}  // namespace cellblock::bench
