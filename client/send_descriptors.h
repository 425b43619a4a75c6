#pragma once

#include <sys/types.h>

#include <span>
#include <string_view>

namespace cellblock::client {

inline constexpr std::size_t max_sent_descriptors = 3;

/// One sendmsg that never waits. SCM_RIGHTS is delivered with the first byte or not at all, so the
/// bytes begin with that of the request. As sendmsg(2): how much was sent, or -1 and errno.
ssize_t send_with_descriptors(int socket, std::string_view bytes, std::span<const int> descriptors);

}  // namespace cellblock::client
