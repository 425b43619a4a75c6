#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

#include "policy/base/result.h"

namespace cellblock::daemon {

/// Our children at this moment, what was left to us by others (adopt_children) included.
Result<std::vector<pid_t>> own_children();

/// Reaps those that end. True: none but `others` is left.
bool await_no_children_but(const std::vector<pid_t>& others, std::chrono::milliseconds patience);

/// Kills and reaps every child but `others`, and what these leave to us, until there is none. An
/// error: `patience` was not enough.
Result<void> kill_children_except(const std::vector<pid_t>& others,
                                  std::chrono::milliseconds patience);

}  // namespace cellblock::daemon
