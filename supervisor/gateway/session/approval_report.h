#pragma once

#include <cstdint>
#include <string>

#include "policy/approvals/approvals.h"
#include "policy/config/config.h"
#include "supervisor/gateway/message/control_request.h"
#include "supervisor/os/clock.h"

/// cellblock/approvals and cellblock/approve: values in, raw JSON out.
namespace cellblock::gateway {

/// What waits. `number`: that one alone, with all that the server will get; 0: all, with the
/// beginnings of their arguments.
std::string approvals_json(const Approvals& approvals, const Config& config, std::uint64_t number,
                           Time now);

/// Decides, and says what was decided about; "decided" is false where nothing of that number waits,
/// or what does is not what the digest was of.
std::string decide_json(Approvals& approvals, const Config& config, const ApprovalWord& word,
                        std::uint32_t by, Time now);

}  // namespace cellblock::gateway
