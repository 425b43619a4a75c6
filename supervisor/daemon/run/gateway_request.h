#pragma once

#include <cstdint>

#include "policy/base/server_set.h"
#include "policy/config/config.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::daemon {

/// start_gateway, with the user's name where some server's `env` asks for it. Blocks then, as the
/// host's name services do.
wire::SupervisorRequest gateway_request(std::uint32_t uid, const ServerSet& servers,
                                        const Config& config);

}  // namespace cellblock::daemon
