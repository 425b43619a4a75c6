#pragma once

#include <string>

#include "policy/config/config.h"
#include "supervisor/ipc/wire.h"

/// Why a reload was refused, in words. Pure.
namespace cellblock::daemon {

/// Why the launcher did not take `next`, and what to do: one sentence.
std::string explain_not_reloaded(const wire::LauncherReport& report, const Config& next);

}  // namespace cellblock::daemon
