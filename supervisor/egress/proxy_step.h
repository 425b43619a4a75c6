#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "supervisor/egress/target.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::egress {

/// A request that is not whole within so much is refused.
inline constexpr std::size_t max_proxy_request = 8192;

enum class ProxyDialect : std::uint8_t { unknown, http, socks };

enum class ProxyStepKind : std::uint8_t {
  need_more,
  answer,   ///< send `reply` and go on
  connect,  ///< to `target`
  refuse,   ///< send `reply`, if any, and close
};

struct ProxyStep {
  ProxyStepKind kind = ProxyStepKind::need_more;
  std::size_t used = 0;  ///< of the bytes given; what follows is the connection's own
  std::string reply;
  Target target;
};

}  // namespace cellblock::egress
