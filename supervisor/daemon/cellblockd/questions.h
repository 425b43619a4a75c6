#pragma once

#include <optional>

#include "supervisor/daemon/start/options.h"

namespace cellblock::daemon {

/// What is only asked of cellblockd: --check, --doctor, --explain, --keys, --schema. The exit code;
/// no value: nothing of the kind was asked. Nothing is started, and no secret is kept.
std::optional<int> answer_question(const Options& options);

}  // namespace cellblock::daemon
