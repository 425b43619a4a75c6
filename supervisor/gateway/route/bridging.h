#pragma once

#include <cstdint>
#include <memory>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "supervisor/gateway/route/server_route_parts.h"
#include "supervisor/gateway/translate/bridge.h"

namespace cellblock::gateway {

/// Whether a rule of its wants somebody's own approval, about which his host is asked by us.
bool asks_users(const Server& server);

/// Between a host of that era and a cell of the other one. What `parts` shares outlives the bridge.
std::unique_ptr<Bridge> make_bridge(const ServerRouteParts& parts, std::uint64_t cell, Era host,
                                    BridgeEffects& effects);

}  // namespace cellblock::gateway
