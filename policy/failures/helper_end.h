#pragma once

#include <string>

#include "policy/failures/cell_facts.h"

/// How one of cellblock's own programs ended. Pure.
namespace cellblock {

/// In words for the log: "failed at step exec: No such file …".
std::string explain_end(const CellFacts& facts);

/// The program ended by itself, with code 0.
bool ended_well(const CellFacts& facts);

}  // namespace cellblock
