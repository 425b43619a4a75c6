#pragma once

#include <cstdint>
#include <functional>

#include "supervisor/os/clock.h"

namespace cellblock::gateway {

enum class AuditState : std::uint8_t { writable, broken };

/// broken: what was recorded is not in the log.
using WhenRecorded = std::function<void(AuditState, Time now)>;

}  // namespace cellblock::gateway
