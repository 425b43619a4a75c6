#pragma once

#include <string>

#include "policy/config/config.h"
#include "policy/failures/cell_facts.h"
#include "supervisor/ipc/wire.h"

/// The causes of a helper's end and of a refused reload, in words for the log. Pure.
namespace cellblock::daemon {

/// How one of cellblock's own helpers ended, for the log: "failed at step exec: No such file …".
std::string explain_end(const CellFacts& facts);

/// The helper ended by itself, with code 0.
bool ended_well(const CellFacts& facts);

/// Why the launcher did not take `next`, and what to do: one sentence.
std::string explain_not_reloaded(const wire::LauncherReport& report, const Config& next);

}  // namespace cellblock::daemon
