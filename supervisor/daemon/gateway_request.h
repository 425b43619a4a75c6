#pragma once

#include <cstdint>

#include "policy/config.h"
#include "policy/server_set.h"
#include "supervisor/kernel/wire.h"

namespace cellblock::daemon {

/// start_gateway, with the user's name where some server's `env` asks for it. Blocks then, as the
/// host's name services do.
wire::SupervisorRequest gateway_request(std::uint32_t uid, const ServerSet& servers,
                                        const Config& config);

}  // namespace cellblock::daemon
