#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "policy/base/result.h"
#include "supervisor/daemon/load/captured_child.h"

namespace cellblock::daemon {

struct CaptureBounds {
  std::chrono::milliseconds timeout{};
  std::size_t most_output = 0;
};

struct Captured {
  std::string output;  ///< made as wipe.h wants it; the caller wipes it
  std::string errors;  ///< the beginning of stderr; likewise
  /// How it ended: "exited with code 3", "did not end within 10s", "printed more than 64KiB".
  /// Empty: it exited with 0.
  std::string problem;
};

/// Runs a program to its end, or to what is too much, and ends everything that it has started.
/// Blocking. Needs SIGCHLD blocked and orphans adopted (children.h). An error: it could not be
/// started, or something of it cannot be ended.
Result<Captured> capture(const ChildRequest& request, const CaptureBounds& bounds);

}  // namespace cellblock::daemon
