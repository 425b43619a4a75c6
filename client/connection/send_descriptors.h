#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <span>
#include <string_view>

#include "cellblock/error.h"

namespace cellblock::client {

inline constexpr std::size_t max_sent_descriptors = 4;

/// One sendmsg that never waits. SCM_RIGHTS is delivered with the first byte or not at all, so the
/// bytes begin with that of the request. As sendmsg(2): how much was sent, or -1 and errno.
ssize_t send_with_descriptors(int socket, std::string_view bytes, std::span<const int> descriptors);

/// With EPERM nothing was sent: the connection takes no descriptors yet, since it is not with the
/// user's gateway (docs/protocol.md). How long to wait before attempt `attempt` (from 1), or none
/// to give up: two minutes in all, since the gateway before it may have to end first. What comes in
/// meanwhile says that it will not be taken.
std::optional<std::chrono::milliseconds> descriptors_backoff(unsigned attempt);

/// Whether that errno means that nobody reads any more: what came in before may still say why.
bool is_gone(int error);

/// For any other errno; ETOOMANYREFS when more descriptors are in flight than the caller may have
/// open.
Error not_sent(int error);

}  // namespace cellblock::client
