#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/http/caller.h"
#include "supervisor/http/outbox.h"
#include "supervisor/http/request_parser.h"
#include "supervisor/http/surroundings.h"
#include "supervisor/kernel/event_loop.h"

namespace cellblock::http {

/// One connection of a host: requests one after the other, each with its answer. Every wait of it
/// has a deadline but that for the answer itself.
class Connection {
 public:
  struct Events {
    /// The headers are there. A reply: it is refused, and the connection closed behind it.
    std::function<std::optional<Reply>(const Request& head, std::uint64_t body_bytes)> head;
    std::function<void(Request request)> request;
    /// The body is no longer held for this request, however it ended.
    std::function<void(std::uint64_t body_bytes)> body_done;
    /// Something waits to be written: flush() is to be called at the end of the turn.
    std::function<void()> dirty;
    /// It is over; `answering`: somebody was still to be answered. It may be destroyed at the end
    /// of the turn.
    std::function<void(bool answering)> over;
  };

  Connection(EventLoop& loop, Fd socket, Transport transport, std::size_t longest_body,
             Events events);
  Result<void> start();

  // Answers to the request that was last given, and to no other.
  void reply(const Reply& reply);
  void begin_stream(const std::vector<Header>& headers);
  void stream(std::string_view bytes);
  void end_stream();

  /// At the end of a turn.
  void flush();
  void close();

 private:
  enum class State : std::uint8_t {
    reading,    ///< a request, or nothing yet
    answering,  ///< a request is with somebody
    draining,   ///< the last answer is going out; what comes in is thrown away
    over,
  };

  void read();
  void advance();
  void feed();
  bool admit();
  void hand_over();
  void refuse(const Reply& reply);
  void write_head(unsigned status, const std::vector<Header>& headers, std::string_view more);
  void answered();
  void drain();
  void expire();
  void release_body();
  void put(std::string_view bytes);
  void wait(Milliseconds longest) { timer_.set(longest); }

  Fd fd_;
  Watch watch_;
  Transport transport_;
  std::size_t longest_body_;
  Events events_;
  Outbox outbox_;
  Timer timer_;
  RequestParser parser_;
  std::string inbox_;
  State state_ = State::reading;
  bool admitted_ = false;
  bool begun_ = false;  ///< the first byte of the head is there
  bool keep_alive_ = true;
  bool shut_ = false;
  std::optional<std::uint64_t> reserved_;  ///< bytes of the body that comes in
};

}  // namespace cellblock::http
