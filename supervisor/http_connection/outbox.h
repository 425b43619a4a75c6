#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/http_connection/access.h"
#include "supervisor/os/event_loop.h"

/// Bytes over a socket, without blocking.
namespace cellblock::http {

// Reads and writes that do not block. The process ignores SIGPIPE.

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

/// Reads nothing from a Unix peer that sent descriptors: reading would close them here, and a close
/// can take as long as their sender likes (docs/decisions/0010).
IoResult receive_some(int socket, std::span<char> room, Transport transport);
IoResult send_some(int socket, std::string_view bytes);

/// Bytes on their way out of one socket. Tries to write at the end of the turn, so that small
/// pieces go together.
class Outbox {
 public:
  Outbox(Watch& watch, int socket) : watch_(watch), socket_(socket) {}

  void add(std::string_view bytes) { queue_ += bytes; }
  std::size_t queued() const { return queue_.size() - sent_; }

  /// False: the peer has closed.
  bool flush();

 private:
  void sent(std::size_t count);

  static constexpr std::size_t keep_capacity = 256U << 10;

  Watch& watch_;
  int socket_;
  std::string queue_;
  std::size_t sent_ = 0;
};

}  // namespace cellblock::http
