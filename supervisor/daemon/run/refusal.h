#pragma once

#include <string>
#include <string_view>

#include "policy/failures/failure_code.h"

namespace cellblock::daemon {

/// Tells a peer why it is not served: one JSON-RPC error line without an id, with nothing in it
/// that came from the peer. Never blocks; a peer that cannot take it gets none.
void write_refusal(int socket, FailureCode code);
void write_refusal(int socket, FailureCode code, std::string_view sentence);

/// Of what an administrator switched off. `reason`: his own, printable; empty: he gave none.
std::string disabled_sentence(std::string_view reason);

}  // namespace cellblock::daemon
