#pragma once

#include <vector>

#include "supervisor/kernel/sys.h"
#include "supervisor/kernel/wire.h"

namespace cellblock::launcher {

/// What was received from a gateway. Whatever descriptors came along are here, also with what is
/// no record: they are not to be closed by the launcher (burial.h).
struct GatewayRecord {
  enum class Kind : std::uint8_t { nothing, request, closed, nonsense } kind = Kind::nothing;
  wire::GatewayRequest request;
  std::vector<Fd> fds;
};

GatewayRecord receive_from_gateway(int channel);

}  // namespace cellblock::launcher
