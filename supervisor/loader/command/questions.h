#pragma once

#include <optional>

#include "supervisor/loader/start/options.h"

namespace cellblock::daemon {

/// Answers --check, --doctor, --explain, --keys and --schema. Returns the exit code; no value: the
/// options ask none of these. Starts nothing and keeps no secret.
std::optional<int> answer_question(const Options& options);

}  // namespace cellblock::daemon
