#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "policy/egress/special_addresses.h"
#include "supervisor/os/sys.h"

/// TCP and UDP, none of which ever waits.
namespace cellblock::egress {

struct SocketAddress {
  InternetAddress address{};
  std::uint16_t port = 0;
};

enum class IoStatus : std::uint8_t {
  done,         ///< `count` bytes, more than 0
  would_block,  ///< later
  ended,        ///< the other side will send no more
  broken,
};

struct IoResult {
  IoStatus status = IoStatus::would_block;
  std::size_t count = 0;
};

IoResult receive(int socket, std::span<char> into);
IoResult send(int socket, std::string_view bytes);

/// What the kernel holds of a connection each way, of either side: its own accounting doubles it.
/// Unbounded, one cell's connections could hold gigabytes of the host's memory.
inline constexpr int socket_buffer = 262'144;

/// Keeps silent connections from lasting when the other side is gone, sends small writes at once,
/// and bounds what waits in the kernel.
void set_tcp_options(int socket);

SysResult<Fd> accept_from(int listener);
/// The address the client meant: the listener may be bound to many.
SysResult<SocketAddress> local_address(int socket);

/// A connection that is being made. It is made, or has failed, once it is writable.
SysResult<Fd> start_connection(const SocketAddress& to);
int connect_error(int socket);  ///< errno; 0: connected

/// Closing it will be an abort (RST), not an end.
void abort_on_close(int socket);

}  // namespace cellblock::egress
