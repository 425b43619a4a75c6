#pragma once

#include <cstdint>
#include <string_view>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/rates/call_deadline.h"
#include "supervisor/gateway/message/calls_in_flight.h"

namespace cellblock::gateway {

/// The request as a call under this id of ours.
Call call_of(std::string_view line, const Message& message, std::uint64_t own_id, Time now);

/// The lists wished in a stream's request, or in its acknowledgement: bit i for
/// mcp::list_changes[i].
std::uint8_t wished_changes(std::string_view line, const Message& message);

/// How long the call may wait for its answer. The handshake has a timeout of its own, a stream is
/// answered when a peer ends it, and tasks/result when its task has ended.
CallDeadline deadline_of(const Call& call, const ServerCalls& rules);

/// Why it waits no longer. `network_advice`: of what the server was refused meanwhile; empty: of
/// nothing.
Failure timeout_failure(const Call& call, const Server& server, std::string_view network_advice,
                        Time now);

}  // namespace cellblock::gateway
