#pragma once

#include "supervisor/probe/attempt.h"

namespace cellblock::probe {

std::span<const Attempt> privileges_attempts();

}  // namespace cellblock::probe
