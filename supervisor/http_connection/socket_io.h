#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "supervisor/http_connection/access.h"

/// Reads and writes that never block. The process ignores SIGPIPE.
namespace cellblock::http {

enum class IoStatus : std::uint8_t {
  done,
  would_block,
  closed,    ///< its end, or an error
  attached,  ///< descriptors came with the bytes: nothing was read
};

struct IoResult {
  IoStatus status{};
  std::size_t count = 0;
};

/// From a Unix peer nothing is taken that carries descriptors: reading it would close them here,
/// and closing one can be made to take as long as its sender likes (docs/decisions/0010).
IoResult receive_some(int socket, std::span<char> room, Transport transport);
IoResult send_some(int socket, std::string_view bytes);

}  // namespace cellblock::http
