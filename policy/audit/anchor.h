#pragma once

#include <string>
#include <string_view>

#include "policy/audit/chain.h"
#include "policy/base/result.h"

namespace cellblock::audit {

/// "SEQ:HASH", as `cellblock audit verify` prints it; an error says what an anchor is.
Result<ChainPoint> read_anchor(std::string_view text);
std::string anchor_text(const ChainPoint& point);

}  // namespace cellblock::audit
