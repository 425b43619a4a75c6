#pragma once

#include <cstdint>

#include "policy/syscalls/syscall_policy.h"

namespace cellblock {

/// cellblock's own processes that live in cells.
enum class InternalProfile : std::uint8_t {
  gateway,       ///< reads what hosts and servers write
  audit_writer,  ///< appends to one descriptor
  egress,        ///< makes one cell's connections, in the host's network
  http,          ///< reads what hosts write over HTTP
  init,          ///< pid 1 of a cell, and the server's parent
};

/// The one descriptor that the gateway may send others over: wire::gateway_fd::launcher, which a
/// test holds it to.
inline constexpr std::uint32_t gateway_launcher_descriptor = 4;

/// As above for wire::http_fd::listener, which cellblock-http must not close.
inline constexpr std::uint32_t http_listener_descriptor = 5;

/// Everything returned is in static storage.
SyscallPolicy syscall_policy(InternalProfile profile);

}  // namespace cellblock
