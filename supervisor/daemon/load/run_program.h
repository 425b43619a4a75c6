#pragma once

#include <string>
#include <vector>

#include "policy/base/result.h"

namespace cellblock::daemon {

/// Runs a program with an empty environment and our stderr, and waits for its end. An error if it
/// could not be started or did not exit with 0.
Result<void> run_program(const char* path, const std::vector<std::string>& arguments);

}  // namespace cellblock::daemon
