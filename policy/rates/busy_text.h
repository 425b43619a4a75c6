#pragma once

#include <string>
#include <string_view>

#include "policy/rates/call_slots.h"

namespace cellblock {

/// One sentence: which bound, what it is, and when to try again.
std::string busy_text(const Busy& busy, std::string_view server, std::string_view tool);

}  // namespace cellblock
