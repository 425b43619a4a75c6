#pragma once

#include <string_view>

#include "policy/failure.h"

namespace cellblock::daemon {

/// Tells a peer why it is not served: one JSON-RPC error line without an id, made of constants
/// only, since nothing was read from the peer. Never blocks; a peer that cannot take it gets none.
void write_refusal(int socket, FailureCode code);
void write_refusal(int socket, FailureCode code, std::string_view sentence);

}  // namespace cellblock::daemon
