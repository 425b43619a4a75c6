#pragma once

#include "supervisor/probe/attempt.h"

namespace cellblock::probe {

std::span<const Attempt> ipc_attempts();

}  // namespace cellblock::probe
