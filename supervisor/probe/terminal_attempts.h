#pragma once

#include "supervisor/probe/attempt.h"

namespace cellblock::probe {

std::span<const Attempt> terminal_attempts();

}  // namespace cellblock::probe
