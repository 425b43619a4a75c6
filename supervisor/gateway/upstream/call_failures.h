#pragma once

#include <cstddef>
#include <string>

#include "policy/config/config.h"
#include "policy/failures/failure.h"

/// Why a call got no answer of its server.
namespace cellblock::gateway {

/// `method`: what the server asked the client for; empty: something that is no request.
Failure forbidden_input_failure(const Server& server, const std::string& method);
Failure audit_failure(const Server& server);
Failure too_many_calls(const Server& server, std::size_t most);
Failure answer_too_large(const Server& server, std::size_t size);
/// The answer has a cursor, state or task id that cannot be handed out.
Failure answer_not_sealed(const Server& server);
/// What has to be changed in it lies inside something else that has to be.
Failure answer_not_editable(const Server& server);

}  // namespace cellblock::gateway
