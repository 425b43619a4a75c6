#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/http_connection/http_context.h"
#include "supervisor/http_connection/outbox.h"
#include "supervisor/http_connection/request.h"
#include "supervisor/http_connection/request_parser.h"
#include "supervisor/os/event_loop.h"

namespace cellblock::http {

/// One connection of a host: requests one after the other, each with its answer. Every wait has a
/// deadline, except the wait for the answer itself.
class Connection {
 public:
  struct Events {
    /// The headers are there. A reply: it is refused, and the connection closed behind it.
    std::function<std::optional<Reply>(const Request& head)> head;
    /// That many further bytes of the body have arrived. A reply: as above.
    std::function<std::optional<Reply>(std::uint64_t bytes)> body;
    std::function<void(Request request)> request;
    /// That many bytes of the body have been released, however the request ended.
    std::function<void(std::uint64_t bytes)> body_done;
    /// Something waits to be written: flush() is to be called at the end of the turn.
    std::function<void()> dirty;
    /// The connection is over; `answering`: a request was not answered yet. The object may be
    /// destroyed at the end of the turn.
    std::function<void(bool answering)> over;
  };

  struct Bounds {
    std::size_t longest_body = 0;  ///< bytes
    std::size_t most_queued = 0;   ///< bytes that its host does not take; then it is closed
    Milliseconds head{10'000};     ///< for the headers of a request; then it is answered with 408
    Milliseconds body{30'000};     ///< likewise for its body
  };

  Connection(EventLoop& loop, Fd socket, Transport transport, Bounds bounds, Events events);
  Result<void> start();

  // Answers to the request that was last given, and to no other.
  void reply(const Reply& reply);
  void begin_stream(const std::vector<Header>& headers);
  void stream(std::string_view bytes);
  void end_stream();

  /// What has come already, without waiting for the loop to say so. It may be over after this.
  void look() { static_cast<void>(read()); }
  /// At the end of a turn.
  void flush();
  void close();

  /// No request of it was ever admitted.
  bool is_stranger() const { return !served_; }
  /// All that it asked is answered, and nothing of another request has come.
  bool is_idle() const {
    return state_ == State::reading && served_ && !begun_ && inbox_.empty() && queued() == 0;
  }
  std::size_t queued() const { return outbox_.queued(); }

 private:
  enum class State : std::uint8_t {
    reading,    ///< a request, or nothing yet
    answering,  ///< a request is being answered
    draining,   ///< the last answer is going out; what comes in is thrown away
    over,
  };

  void wake();
  bool read();
  void take(std::span<char> bytes);
  void advance();
  void feed();
  bool admit();
  bool charge(std::size_t bytes);
  void dispatch();
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
  Bounds bounds_;
  Events events_;
  Outbox outbox_;
  Timer timer_;
  RequestParser parser_;
  WipedString inbox_;
  State state_ = State::reading;
  bool admitted_ = false;
  bool begun_ = false;   ///< the first byte of the head is there
  bool served_ = false;  ///< a request was admitted
  bool keep_alive_ = true;
  bool shut_ = false;
  int empty_wakes_ = 0;        ///< in a row: the loop called it readable, and there was nothing
  std::uint64_t charged_ = 0;  ///< bytes of the body that comes in
};

}  // namespace cellblock::http
