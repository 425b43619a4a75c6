#include "client/connection/channel.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
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

// How much longer than it may be a line is read to its end.
constexpr std::size_t skipped_lines = 16;

// How much one process() reads of a peer that sends without end.
constexpr unsigned reads_at_once = 64;

Error closed_by_peer() {
  return {.code = ErrorCode::disconnected, .text = "the daemon closed the connection"};
}

Error broken(int error) {
  return {.code = ErrorCode::disconnected,
          .text = "the connection broke: " + std::generic_category().message(error)};
}

bool is_for_later(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Channel::Channel(std::shared_ptr<Reactor> reactor, const Limits& limits)
    : reactor_(std::move(reactor)),
      timer_(reactor_),
      limits_(limits),
      lines_(limits.incoming_line) {}

Channel::~Channel() {
  if (socket_.valid()) reactor_->unwatch();
}

void Channel::connect(const std::string& path, Handlers handlers, Completion<void> done) {
  handlers_ = std::move(handlers);
  connecting_ = std::move(done);
  if (const auto& failure = reactor_->failure()) return finish_connect(Unexpected(*failure));
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
  timer_.expires_after(*wait, [weak = weak_from_this(), number] {
    if (const auto self = weak.lock()) self->attempt(number + 1);
  });
}

void Channel::connected(OwnedFd socket) {
  if (auto watched = reactor_->watch(socket.get(), weak_from_this()); !watched) {
    return finish_connect(std::move(watched));
  }
  socket_ = std::move(socket);
  finish_connect({});
}

void Channel::finish_connect(Result<void> result) {
  reactor_->post([done = std::move(connecting_), result = std::move(result)]() mutable {
    if (done) done(std::move(result));
  });
}

Result<void> Channel::send(std::string line, OwnedFd attached) {
  if (!socket_.valid()) {
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

void Channel::ready() {
  write();
  read();
}

void Channel::write() {
  while (socket_.valid() && !writing_stopped_ && !queue_.empty() && write_front()) {
  }
}

// Whether there is room for more.
bool Channel::write_front() {
  const auto sent = send_front();
  if (sent < 0) {
    not_written(errno);
    return false;
  }
  refusals_ = 0;
  sent_ += static_cast<std::size_t>(sent);
  queue_.front().attached = OwnedFd();
  if (sent_ < queue_.front().line.size()) return true;
  queued_bytes_ -= queue_.front().line.size();
  sent_ = 0;
  queue_.pop_front();
  if (queue_.empty()) reactor_->want_write(false);
  return true;
}

ssize_t Channel::send_front() {
  const Outgoing& first = queue_.front();
  if (first.attached.valid()) {
    const int attached = first.attached.get();
    return send_with_descriptors(socket_.get(), first.line, {&attached, 1});
  }
  const auto rest = std::string_view(first.line).substr(sent_);
  return ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Channel::not_written(int error) {
  const bool is_attached = queue_.front().attached.valid();
  if (is_for_later(error)) return reactor_->want_write(true);
  writing_stopped_ = true;
  reactor_->want_write(false);
  if (!is_attached || is_gone(error)) return;  // reading tells why, and may have answers still
  if (error == EPERM) return retry_attached();
  reactor_->post([weak = weak_from_this(), error] {
    const auto self = weak.lock();
    if (self && self->socket_.valid()) self->end(not_sent(error));
  });
}

void Channel::retry_attached() {
  const auto wait = descriptors_backoff(++refusals_);
  const auto again = [weak = weak_from_this(), gives_up = !wait] {
    const auto self = weak.lock();
    if (!self || !self->socket_.valid()) return;
    if (gives_up) return self->end(not_sent(EPERM));
    self->writing_stopped_ = false;
    self->write();
  };
  timer_.expires_after(wait.value_or(std::chrono::milliseconds(0)), again);
}

void Channel::read() {
  for (unsigned count = 0; socket_.valid() && count < reads_at_once; ++count) {
    if (!read_some()) return;
  }
  reactor_->post([] {});  // whoever waits for edges of the descriptor would see none
}

// Whether there may be more.
bool Channel::read_some() {
  const auto room = lines_.writable();
  const auto count = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (count < 0 && is_for_later(errno)) return false;
  if (count <= 0) {
    end(count == 0 ? closed_by_peer() : broken(errno));
    return false;
  }
  const auto size = static_cast<std::size_t>(count);
  lines_.written(size);
  received({room.data(), size});
  return size == room.size();
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
  while (socket_.valid()) {
    const auto unread = lines_.unread().value_or(behind);
    const auto next = lines_.next();
    if (next.kind == LineSplitter::Kind::need_more) return;
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
  if (!handlers_.long_line(line) && socket_.valid()) end(too_long());
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
  if (socket_.valid()) reactor_->unwatch();
  socket_ = OwnedFd();
  timer_.cancel();
  for (Outgoing& unsent : queue_) unsent.attached = OwnedFd();
  if (connecting_) {
    finish_connect(
        std::unexpected(Error{.code = ErrorCode::cancelled, .text = "the session was closed"}));
  }
}

void Channel::abandon() { socket_ = OwnedFd(); }

}  // namespace cellblock::client
