#pragma once

#include <cstdint>
#include <string_view>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/message/calls_in_flight.h"

namespace cellblock::gateway {

/// The request as a call under this id of ours.
Call call_of(std::string_view line, const Message& message, std::uint64_t ours, Time now);

}  // namespace cellblock::gateway
