#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

#include "policy/base/result.h"

/// Child processes: which there are, and their ends within a deadline. Needs SIGCHLD blocked
/// (adopt_children).
namespace cellblock::daemon {

/// Blocks SIGCHLD, so that it can be waited for, and makes orphans of our descendants our children,
/// so that their ends can be waited for as well.
Result<void> adopt_children();

/// True when that child has ended and was reaped (or never was ours).
bool await_child(pid_t child, std::chrono::milliseconds patience);

/// True when no child is left; reaps all.
bool await_no_children(std::chrono::milliseconds patience);

/// Our children at this moment, what was left to us by others (adopt_children) included.
Result<std::vector<pid_t>> own_children();

/// Reaps those that end. True: none but `others` is left.
bool await_no_children_but(const std::vector<pid_t>& others, std::chrono::milliseconds patience);

/// Kills and reaps every child but `others`, and what these leave to us, until there is none. An
/// error: `patience` was not enough.
Result<void> kill_children_except(const std::vector<pid_t>& others,
                                  std::chrono::milliseconds patience);

}  // namespace cellblock::daemon
