#pragma once

#include <chrono>
#include <cstdint>

#include "supervisor/ipc/wire.h"

namespace cellblock::launcher {

/// What one walk may do. A home that has more is told so, and is walked again on request.
struct HomeBounds {
  std::uint64_t files = 1'000'000;  ///< directories as well
  std::chrono::seconds time{60};
};

/// Counts what is in a home directory, or removes it; the directory itself stays. No link is
/// followed and no other file system entered. `home`: its descriptor. The caller has the rights of
/// the home's owner and no others: what it may not remove is `failed`.
wire::HomeFacts walk_home(int home, wire::HomeAction action, const HomeBounds& bounds);

}  // namespace cellblock::launcher
