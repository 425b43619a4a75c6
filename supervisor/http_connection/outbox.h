#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "supervisor/http_connection/socket_io.h"
#include "supervisor/os/event_loop.h"

namespace cellblock::http {

/// Bytes on their way out of one socket. Tries to write at the end of the turn, so that small
/// pieces go together.
class Outbox {
 public:
  Outbox(Watch& watch, int socket) : watch_(watch), socket_(socket) {}

  void add(std::string_view bytes) { queue_ += bytes; }
  std::size_t queued() const { return queue_.size() - sent_; }

  /// False: nobody reads any more.
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
