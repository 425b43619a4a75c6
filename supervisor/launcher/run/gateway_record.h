#pragma once

#include "supervisor/ipc/wire.h"

namespace cellblock::launcher {

/// What was received from a gateway, without anything that was attached.
struct GatewayRecord {
  enum class Kind : std::uint8_t {
    nothing,
    request,
    attached,  ///< still in the channel: descriptors come with it (attached_record.h)
    closed,
    nonsense,
  } kind = Kind::nothing;
  wire::GatewayRequest request;
};

/// Never brings a descriptor into this process: to close one may take for ever, whatever it is.
/// Nobody else may receive from the channel meanwhile.
GatewayRecord receive_from_gateway(int channel);

}  // namespace cellblock::launcher
