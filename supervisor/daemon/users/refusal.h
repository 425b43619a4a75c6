#pragma once

#include <string>
#include <string_view>

#include "policy/failures/failure_code.h"

namespace cellblock::daemon {

/// Sends a peer the reason of a refusal: one JSON-RPC error line without an id, with no text from
/// the peer. Never blocks; a peer whose socket is full gets no line.
void write_refusal(int socket, FailureCode code, std::string_view sentence);

/// The sentence for connections that are refused with this code.
std::string_view refusal_sentence(FailureCode code);

/// The sentence for connections while an administrator has switched cellblock off. `reason`: the
/// administrator's, printable; empty: none.
std::string disabled_sentence(std::string_view reason);

}  // namespace cellblock::daemon
