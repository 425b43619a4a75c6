#pragma once

#include "supervisor/probe/attempt.h"

namespace cellblock::probe {

std::span<const Attempt> network_attempts();

}  // namespace cellblock::probe
