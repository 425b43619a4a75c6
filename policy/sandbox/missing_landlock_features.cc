#include "policy/sandbox/missing_landlock_features.h"

#include <fmt/format.h>

#include <string_view>

namespace cellblock {
namespace {

struct Lack {
  std::uint32_t abi;  ///< that brought it
  std::string_view what;
};

// The kernel's Documentation/userspace-api/landlock.rst, "Previous limitations". ABI 7 and 8
// brought logging flags and a call for all threads, which a cell does not need.
constexpr Lack lacks[] = {
    {1, "files (the mounts alone fence them in)"},
    {2, "moving files between directories (refused altogether below ABI 2)"},
    {3, "truncating files (the mounts alone forbid it)"},
    {4, "TCP ports (the network namespace and the system-call filter alone fence them in)"},
    {5, "ioctl on devices (the system-call filter alone forbids it)"},
    {6, "signals and abstract sockets (the pid and network namespaces alone fence them in)"},
    {9, "sockets with a path (the mounts alone hide them)"},
    {10, "UDP ports (the network namespace and the system-call filter alone fence them in)"},
};

}  // namespace

std::vector<std::string> landlock_lacks(std::uint32_t abi) {
  std::vector<std::string> lines;
  for (const Lack& lack : lacks) {
    if (abi < lack.abi) {
      lines.push_back(fmt::format("Landlock ABI {} lacks {}: ABI {}", abi, lack.what, lack.abi));
    }
  }
  return lines;
}

}  // namespace cellblock
