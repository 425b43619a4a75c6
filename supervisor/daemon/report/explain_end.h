#pragma once

#include <string>

#include "policy/failures/end_facts.h"

namespace cellblock::daemon {

/// How one of cellblock's own helpers ended, for the log: "failed at step exec: No such file …".
std::string explain_end(const CellFacts& facts);

/// By itself, with code 0: nothing to say about it.
bool ended_well(const CellFacts& facts);

}  // namespace cellblock::daemon
