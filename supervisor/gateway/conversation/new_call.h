#pragma once

#include <cstdint>
#include <string_view>

#include "policy/jsonrpc.h"
#include "supervisor/gateway/conversation/call_table.h"

namespace cellblock::gateway {

/// The request as a call under this id of ours.
Call call_of(std::string_view line, const Message& message, std::uint64_t ours, Time now);

}  // namespace cellblock::gateway
