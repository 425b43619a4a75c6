#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"

/// What becomes of a message that is too long for its host. Conversations hold what a server says
/// to lines.to_host; what is written anew above them (by a bridge, by the aggregate) may have grown
/// since, and the reader was promised a bound: official SDKs close a connection over it.
namespace cellblock::gateway {

struct InsteadOfOverlong {
  std::string to_host;  ///< for whoever waits for this answer; else empty
  std::string to_peer;  ///< the host's refusal, for whoever waits for the host's; else empty
};

Failure message_too_large(std::size_t size, std::size_t limit, std::string_view server);

InsteadOfOverlong instead_of_overlong(std::string_view line, const Message& message,
                                      const Failure& failure);

}  // namespace cellblock::gateway
