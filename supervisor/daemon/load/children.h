#pragma once

#include <sys/types.h>

#include <chrono>

#include "policy/base/result.h"

/// Waiting for the ends of child processes with a deadline. Needs SIGCHLD blocked (adopt_children).
namespace cellblock::daemon {

/// Blocks SIGCHLD, so that it can be waited for, and makes orphans of our descendants our children,
/// so that their ends can be waited for as well.
Result<void> adopt_children();

/// True when that child has ended and was reaped (or never was ours).
bool await_child(pid_t child, std::chrono::milliseconds patience);

/// True when no child is left; reaps all.
bool await_no_children(std::chrono::milliseconds patience);

}  // namespace cellblock::daemon
