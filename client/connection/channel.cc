#include "client/connection/channel.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "client/connection/unix_connect.h"
#include "policy/base/result.h"

namespace cellblock::client {

ssize_t send_with_descriptors(int socket, std::string_view bytes,
                              std::span<const int> descriptors) {
  if (descriptors.empty() || descriptors.size() > max_sent_descriptors) {
    errno = EINVAL;
    return -1;
  }
  alignas(cmsghdr) std::array<char, CMSG_SPACE(max_sent_descriptors * sizeof(int))> control{};
  // Not written to: the C interface serves both directions.
  iovec text{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};  // NOLINT
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<std::chrono::milliseconds> descriptors_backoff(unsigned attempt) {
  constexpr unsigned doublings = 6;
  constexpr std::chrono::milliseconds longest{50};
  constexpr std::chrono::milliseconds in_all{120'000};
  if (attempt == 0 || attempt > doublings + in_all / longest) return std::nullopt;
  if (attempt > doublings) return longest;
  return std::chrono::milliseconds(1U << (attempt - 1));
}

bool is_gone(int error) { return error == EPIPE || error == ECONNRESET || error == ENOTCONN; }

Error not_sent(int error) {
  return {.code = ErrorCode::disconnected,
          .text = "the descriptors could not be sent: " + std::generic_category().message(error)};
}

namespace {

namespace asio = boost::asio;
using ErrorCodeOfAsio = boost::system::error_code;

// How much longer than it may be a line is read to its end.
constexpr std::size_t skipped_lines = 16;

Error closed_by_peer(const ErrorCodeOfAsio& error) {
  return {.code = ErrorCode::disconnected,
          .text = error == asio::error::eof
                      ? "the daemon closed the connection"
                      : fmt::format("the connection broke: {}", error.message())};
}

}  // namespace

Channel::Channel(const asio::any_io_executor& executor, const Limits& limits)
    : socket_(executor), timer_(executor), limits_(limits), lines_(limits.incoming_line) {}

void Channel::connect(const std::string& path, Handlers handlers, Completion<void> done) {
  handlers_ = std::move(handlers);
  connecting_ = std::move(done);
  auto resolved = resolve_socket(path);
  if (!resolved) return finish_connect(std::unexpected(resolved.error()));
  path_ = *std::move(resolved);
  attempt(1);
}

void Channel::attempt(unsigned number) {
  auto socket = try_connect(path_);
  if (!socket) return finish_connect(std::unexpected(socket.error()));
  if (*socket) return connected(std::move(**socket));
  retry(number);
}

void Channel::retry(unsigned number) {
  const auto wait = connect_backoff(number);
  if (!wait) return finish_connect(std::unexpected(backlog_full(path_)));
  timer_.expires_after(*wait);
  timer_.async_wait([self = shared_from_this(), number](const ErrorCodeOfAsio& error) {
    if (!error) self->attempt(number + 1);
  });
}

void Channel::connected(OwnedFd socket) {
  ErrorCodeOfAsio error;
  static_cast<void>(socket_.assign({}, socket.get(), error));
  if (error) return finish_connect(std::unexpected(closed_by_peer(error)));
  socket.release();
  read();
  finish_connect({});
}

void Channel::finish_connect(Result<void> result) {
  asio::post(socket_.get_executor(),
             [done = std::move(connecting_), result = std::move(result)]() mutable {
               if (done) done(std::move(result));
             });
}

Result<void> Channel::send(std::string line, OwnedFd attached) {
  if (!socket_.is_open()) {
    return std::unexpected(
        Error{.code = ErrorCode::disconnected, .text = "there is no connection to the daemon"});
  }
  if (queued_bytes_ + line.size() > limits_.outgoing_queue) {
    return std::unexpected(
        Error{.code = ErrorCode::too_many, .text = "too much is waiting to be sent already"});
  }
  queued_bytes_ += line.size();
  queue_.push_back({std::move(line), std::move(attached)});
  if (queue_.size() == 1) write();
  return {};
}

void Channel::write() { queue_.front().attached.valid() ? write_attached() : write_rest(0); }

// Asio sends bytes only.
void Channel::write_attached() {
  socket_.async_wait(
      asio::socket_base::wait_write, [self = shared_from_this()](const ErrorCodeOfAsio& error) {
        if (error || self->queue_.empty()) return;
        Outgoing& first = self->queue_.front();
        const int attached = first.attached.get();
        const auto sent =
            send_with_descriptors(self->socket_.native_handle(), first.line, {&attached, 1});
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
          return self->write_attached();
        }
        if (sent < 0 && errno == EPERM) return self->write_attached_later();
        if (sent < 0 && is_gone(errno)) return;  // reading tells why
        if (sent < 0) return self->end(not_sent(errno));
        first.attached = OwnedFd();
        self->refusals_ = 0;
        self->write_rest(static_cast<std::size_t>(sent));
      });
}

void Channel::write_attached_later() {
  const auto wait = descriptors_backoff(++refusals_);
  if (!wait) return end(not_sent(EPERM));
  timer_.expires_after(*wait);
  timer_.async_wait([self = shared_from_this()](const ErrorCodeOfAsio& error) {
    if (!error && !self->queue_.empty()) self->write_attached();
  });
}

void Channel::write_rest(std::size_t sent) {
  asio::async_write(socket_, asio::buffer(queue_.front().line) + sent,
                    [self = shared_from_this()](const ErrorCodeOfAsio& error, std::size_t) {
                      // Reading tells why the connection ended; it may hold answers still.
                      if (error || self->queue_.empty()) return;
                      self->queued_bytes_ -= self->queue_.front().line.size();
                      self->queue_.pop_front();
                      if (!self->queue_.empty()) self->write();
                    });
}

void Channel::read() {
  const auto room = lines_.writable();
  socket_.async_read_some(
      asio::buffer(room.data(), room.size()),
      [self = shared_from_this(), room](const ErrorCodeOfAsio& error, std::size_t count) {
        if (!self->socket_.is_open()) return;
        if (error) return self->end(closed_by_peer(error));
        self->lines_.written(count);
        self->received({room.data(), count});
      });
}

void Channel::received(std::string_view bytes) {
  if (!long_line_) return handle_lines({});
  const auto newline = bytes.find('\n');
  if (!long_line_->add(bytes.substr(0, newline))) return end(too_long());
  if (newline == std::string_view::npos) return handle_lines({});
  skipped_line();
  handle_lines(bytes.substr(newline + 1));
}

// `behind`: what has come behind a line that is being skipped.
void Channel::handle_lines(std::string_view behind) {
  // A handler may close the channel.
  while (socket_.is_open()) {
    const auto unread = lines_.unread().value_or(behind);
    const auto next = lines_.next();
    if (next.kind == LineSplitter::Kind::need_more) return read();
    if (next.kind == LineSplitter::Kind::line) {
      handlers_.line(next.line);
    } else {
      // What it skips is where it was until the next call.
      skip_line(unread.substr(0, next.length), unread.size() > next.length);
    }
  }
}

void Channel::skip_line(std::string_view beginning, bool is_whole) {
  long_line_.emplace(beginning, skipped_lines * limits_.incoming_line);
  if (!long_line_->is_object()) return end(too_long());
  if (is_whole) skipped_line();
}

void Channel::skipped_line() {
  const auto line = *std::exchange(long_line_, std::nullopt);
  if (!handlers_.long_line(line) && socket_.is_open()) end(too_long());
}

Error Channel::too_long() const {
  return {.code = ErrorCode::too_large,
          .text = fmt::format("the daemon sent a message over {} bytes", limits_.incoming_line)};
}

void Channel::end(Error why) {
  const auto ended = handlers_.ended;
  close();
  ended(std::move(why));
}

void Channel::close() {
  ErrorCodeOfAsio ignored;
  static_cast<void>(socket_.close(ignored));
  timer_.cancel();
  for (Outgoing& unsent : queue_) unsent.attached = OwnedFd();
  if (connecting_) {
    finish_connect(
        std::unexpected(Error{.code = ErrorCode::cancelled, .text = "the session was closed"}));
  }
}

// Asio's own close would take the descriptor out of an epoll set that the parent has too.
void Channel::abandon() {
  if (socket_.is_open()) ::close(socket_.native_handle());
}

}  // namespace cellblock::client
