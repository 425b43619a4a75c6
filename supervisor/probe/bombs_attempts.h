#pragma once

#include "supervisor/probe/attempt.h"

namespace cellblock::probe {

std::span<const Attempt> bombs_attempts();

}  // namespace cellblock::probe
