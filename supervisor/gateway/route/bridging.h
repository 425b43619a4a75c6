#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "supervisor/gateway/route/route.h"
#include "supervisor/gateway/translate/bridge.h"

namespace cellblock::gateway {

/// Whether this error (a JSON object), in answer to `initialize`, says that the server has no such
/// method: it is of the modern era alone. Any other error is the server's own trouble.
bool means_no_initialize(std::string_view error);

/// Whether a rule of the server asks the user, which cellblock does through the host.
bool asks_users(const Server& server);

/// Between a host of that era and a cell of the other one. What `parts` shares outlives the bridge.
std::unique_ptr<Bridge> make_bridge(const ServerRouteParts& parts, std::uint64_t cell, Era host,
                                    BridgeEffects& effects);

}  // namespace cellblock::gateway
