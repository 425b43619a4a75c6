#include "supervisor/http_connection/connection.h"

#include <fmt/format.h>
#include <strings.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "policy/mcp/protocol_words.h"

namespace cellblock::http {
namespace {

constexpr Milliseconds idle_patience{75'000};   ///< between two requests
constexpr Milliseconds write_patience{30'000};  ///< without a byte taken
constexpr Milliseconds drain_patience{2'000};
constexpr std::size_t read_size = 16U << 10;
constexpr int most_empty_wakes = 8;
constexpr std::size_t most_pipelined = 64U << 10;
constexpr std::size_t longest_part = RequestParser::longest_head + read_size;

Reply broken_page(unsigned status) {
  // Whoever gets this is a proxy of an administrator's, as a rule.
  constexpr std::string_view what_to_set =
      "HTTP Version Not Supported: HTTP/1.1 is spoken here; behind nginx set proxy_http_version "
      "1.1";
  return error_page(status, {}, mcp::invalid_request,
                    status == 505 ? what_to_set : reason_of(status));
}

}  // namespace

Connection::Connection(EventLoop& loop, Fd socket, Transport transport, Bounds bounds,
                       Events events)
    : fd_(std::move(socket)),
      watch_(loop, fd_.get()),
      transport_(transport),
      bounds_(bounds),
      events_(std::move(events)),
      outbox_(watch_, fd_.get()),
      timer_(loop, [this] { expire(); }),
      parser_(bounds.longest_body) {}

Result<void> Connection::start() {
  watch_.on_readable = [this] { wake(); };
  watch_.on_writable = [this] { flush(); };
  CELLBLOCK_CHECK(watch_.want_read(true));
  wait(bounds_.head);
  return {};
}

void Connection::put(std::string_view bytes) {
  outbox_.add(bytes);
  events_.dirty();
}

// What is called readable for ever and has nothing to read would keep the loop busy.
void Connection::wake() {
  if (read()) {
    empty_wakes_ = 0;
  } else if (++empty_wakes_ >= most_empty_wakes) {
    close();
  }
}

// False: there was nothing.
bool Connection::read() {
  std::array<char, read_size> room;
  const IoResult result = receive_some(fd_.get(), room, transport_);
  if (result.status == IoStatus::would_block) return false;
  if (result.status == IoStatus::done) {
    take(std::span(room).first(result.count));
  } else {
    close();
  }
  return true;
}

void Connection::take(std::span<char> bytes) {
  if (state_ == State::draining) return;
  inbox_.append(bytes.data(), bytes.size());
  ::explicit_bzero(bytes.data(), bytes.size());
  // Who does not take an answer gets no other to wait behind it.
  if (outbox_.queued() > 0) return static_cast<void>(watch_.want_read(false));
  if (state_ == State::reading) return advance();
  // A host that goes on talking while it is answered is not listened to any further.
  if (inbox_.size() > most_pipelined) static_cast<void>(watch_.want_read(false));
}

void Connection::advance() {
  while (state_ == State::reading && !inbox_.empty() && outbox_.queued() == 0) {
    const std::size_t before = inbox_.size();
    const auto stage = parser_.state();
    feed();
    if (inbox_.size() != before || parser_.state() != stage) continue;
    // The size of a chunk, or what stands behind the last one, has no end.
    if (state_ == State::reading && inbox_.size() > longest_part) refuse(broken_page(400));
    return;
  }
}

void Connection::feed() {
  // The first request is waited for since the connection is there: its first byte buys no time.
  if (!std::exchange(begun_, true) && served_) wait(bounds_.head);
  const bool of_body = parser_.state() == RequestParser::State::body;
  const std::size_t taken = parser_.feed(inbox_);
  drop_front(inbox_, taken);
  if (of_body && admitted_ && !charge(taken)) return;
  if (parser_.state() == RequestParser::State::broken) return refuse(broken_page(parser_.status()));
  if (parser_.state() == RequestParser::State::head) return;
  if (!admitted_ && !admit()) return;
  if (parser_.state() == RequestParser::State::complete) dispatch();
}

bool Connection::admit() {
  admitted_ = true;
  wait(bounds_.body);
  const Request& head = parser_.request();
  const auto refusal = events_.head(head);
  parser_.forget_credentials();
  if (refusal) {
    refuse(*refusal);
    return false;
  }
  served_ = true;
  keep_alive_ = parser_.keeps_alive();
  if (lower_case(head.header("expect").value_or("")) == "100-continue") {
    put("HTTP/1.1 100 Continue\r\n\r\n");
  }
  return true;
}

bool Connection::charge(std::size_t bytes) {
  const auto refusal = events_.body(bytes);
  if (refusal) {
    refuse(*refusal);
    return false;
  }
  charged_ += bytes;
  return true;
}

void Connection::release_body() {
  if (const auto bytes = std::exchange(charged_, 0)) events_.body_done(bytes);
}

void Connection::dispatch() {
  state_ = State::answering;
  timer_.cancel();
  Request request = parser_.take();
  release_body();
  events_.request(std::move(request));
}

void Connection::refuse(const Reply& refusal) {
  release_body();
  state_ = State::answering;
  keep_alive_ = false;
  reply(refusal);
}

void Connection::write_head(unsigned status, const std::vector<Header>& headers,
                            std::string_view more) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", status, reason_of(status));
  for (const Header& header : headers) head += header.name + ": " + header.value + "\r\n";
  if (!keep_alive_) head += "Connection: close\r\n";
  head += more;
  head += "\r\n";
  put(head);
}

void Connection::reply(const Reply& reply) {
  if (state_ != State::answering) return;
  const bool bare = reply.status == 204;
  write_head(reply.status, reply.headers,
             bare ? std::string{} : fmt::format("Content-Length: {}\r\n", reply.body.size()));
  put(reply.body);
  if (outbox_.queued() > bounds_.most_queued) return close();
  answered();
}

void Connection::begin_stream(const std::vector<Header>& headers) {
  if (state_ != State::answering) return;
  write_head(200, headers, "Transfer-Encoding: chunked\r\n");
}

void Connection::stream(std::string_view bytes) {
  if (state_ != State::answering || bytes.empty()) return;
  // Who does not read what it asked for is no reader.
  if (outbox_.queued() + bytes.size() > bounds_.most_queued) return close();
  put(fmt::format("{:x}\r\n", bytes.size()));
  put(bytes);
  put("\r\n");
}

void Connection::end_stream() {
  if (state_ != State::answering) return;
  put("0\r\n\r\n");
  answered();
}

void Connection::answered() {
  admitted_ = false;
  begun_ = false;
  if (!keep_alive_) {
    state_ = State::draining;
    return wait(drain_patience);
  }
  parser_ = RequestParser(bounds_.longest_body);
  state_ = State::reading;
  wait(idle_patience);
}

// Closed behind its last byte only when the host has seen it: what it sent meanwhile would make the
// kernel throw the answer away.
void Connection::drain() {
  if (std::exchange(shut_, true)) return;
  ::shutdown(fd_.get(), SHUT_WR);
}

void Connection::flush() {
  if (state_ == State::over) return;
  const std::size_t before = outbox_.queued();
  if (!outbox_.flush()) return close();
  if (outbox_.queued() > 0) {
    if (outbox_.queued() != before || !timer_.is_set()) wait(write_patience);
    return;
  }
  if (state_ == State::draining) return drain();
  if (state_ == State::answering) return timer_.cancel();
  static_cast<void>(watch_.want_read(true));
  if (!inbox_.empty()) advance();
}

void Connection::expire() {
  const bool slow_request =
      state_ == State::reading && outbox_.queued() == 0 && (admitted_ || !inbox_.empty());
  if (!slow_request) return close();
  refuse(broken_page(408));
}

void Connection::close() {
  if (state_ == State::over) return;
  const bool answering = state_ == State::answering;
  state_ = State::over;
  release_body();
  watch_.forget();
  timer_.cancel();
  // Another process may hold this socket too, and a host waits for its end.
  ::shutdown(fd_.get(), SHUT_RDWR);
  events_.over(answering);
}

}  // namespace cellblock::http
