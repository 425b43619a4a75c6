#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/containment/child_process.h"

/// A process in the launcher's position: the daemon's uid, a user namespace of its own that maps
/// the cells' ids, no way to gain privilege. The test plays the supervisor, which writes the map.
namespace cellblock::containment {

/// As root: ids that exist on no machine's passwd file. Otherwise there is only the tester's own.
struct Ids {
  std::uint32_t daemon = 0;
  std::uint32_t first_cell = 0;
  std::uint32_t cells = 0;
};
Ids ids_here();

/// The ABI of this kernel's Landlock; 0: it has none.
std::uint32_t landlock_here();

/// Runs `body` there; what it writes to its descriptor comes back.
ChildResult run_as_launcher(const std::function<int(int output)>& body);

}  // namespace cellblock::containment
