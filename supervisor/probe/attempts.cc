#include "supervisor/probe/attempts.h"

#include <array>

namespace cellblock::probe {

std::string_view name_of(AttemptClass kind) {
  constexpr std::array<std::string_view, 10> names = {
      "files",      "processes", "kernel",   "memory", "network",
      "privileges", "resources", "terminal", "ipc",    "environment"};
  return names.at(static_cast<std::size_t>(kind));
}

std::span<const AttemptGroup> attempt_groups() {
  static const std::array<AttemptGroup, 13> groups = {{
      {AttemptClass::files, files_attempts()},
      {AttemptClass::processes, processes_attempts()},
      {AttemptClass::kernel, mounts_attempts()},
      {AttemptClass::memory, memory_attempts()},
      {AttemptClass::network, network_attempts()},
      {AttemptClass::network, sockets_attempts()},
      {AttemptClass::privileges, privileges_attempts()},
      {AttemptClass::resources, resources_attempts()},
      {AttemptClass::resources, bombs_attempts()},
      {AttemptClass::terminal, terminal_attempts()},
      {AttemptClass::ipc, ipc_attempts()},
      {AttemptClass::environment, environment_attempts()},
      {AttemptClass::kernel, kernel_attempts()},  // ends with the fatal ones
  }};
  return groups;
}

}  // namespace cellblock::probe
