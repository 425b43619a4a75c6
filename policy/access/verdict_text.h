#pragma once

#include <string>

#include "policy/access/rights.h"

namespace cellblock {

/// "the argument \"path\" must be an absolute path at or below /w, without \"..\" (rule[2])": one
/// sentence for a person and a model; nothing of it names who else may do what.
std::string text_of(const AccessVerdict& verdict);

/// "a number from 1 to 10".
std::string text_of(const Condition& condition);

}  // namespace cellblock
