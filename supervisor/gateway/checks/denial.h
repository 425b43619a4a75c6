#pragma once

#include <string>
#include <string_view>

#include "policy/access/rights.h"
#include "policy/config/config.h"
#include "policy/failures/failure.h"

namespace cellblock::gateway {

/// Why something that exists for this person may not be used so, in words that a model can act on:
/// `denied`, or `approval_required`.
Failure denial(const AccessVerdict& verdict, const Server& server);

/// Of a tool as a result that the model sees, of the rest as an error.
std::string denied_reply(std::string_view id, AccessKind kind, Era era, const Failure& failure);

}  // namespace cellblock::gateway
