#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

#include "policy/base/result.h"

/// Lists child processes, and awaits their ends within a deadline. Needs SIGCHLD blocked
/// (adopt_children).
namespace cellblock::daemon {

/// Blocks SIGCHLD, so that it can be waited for, and makes this process a child subreaper, so that
/// the ends of orphaned descendants can be waited for as well.
Result<void> adopt_children();

/// True: that child has ended and was reaped, or is no child of this process.
bool await_child(pid_t child, std::chrono::milliseconds patience);

/// Reaps all children. True: none is left.
bool await_no_children(std::chrono::milliseconds patience);

/// The children at this moment, including adopted orphans (adopt_children).
Result<std::vector<pid_t>> own_children();

/// Reaps children that end. True: none but `others` is left.
bool await_no_children_but(const std::vector<pid_t>& others, std::chrono::milliseconds patience);

/// Kills and reaps every child but `others`, including orphans that arrive meanwhile. An error:
/// `patience` was not enough.
Result<void> kill_children_except(const std::vector<pid_t>& others,
                                  std::chrono::milliseconds patience);

}  // namespace cellblock::daemon
