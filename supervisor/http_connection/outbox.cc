#include "supervisor/http_connection/outbox.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace cellblock::http {
namespace {

IoResult failed() {
  const bool later = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {later ? IoStatus::would_block : IoStatus::closed, 0};
}

IoResult consume(int socket, std::span<char> room) {
  const ssize_t count = ::recv(socket, room.data(), room.size(), MSG_DONTWAIT);
  if (count < 0) return failed();
  if (count == 0) return {IoStatus::closed, 0};
  return {IoStatus::done, static_cast<std::size_t>(count)};
}

// The kernel says MSG_CTRUNC for what there is no room for; a peek takes nothing out.
IoResult look(int socket, std::span<char> room) {
  iovec part{room.data(), room.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  const ssize_t count = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_PEEK);
  if (count < 0) return failed();
  if ((message.msg_flags & MSG_CTRUNC) != 0) return {IoStatus::attached, 0};
  if (count == 0) return {IoStatus::closed, 0};
  return {IoStatus::done, static_cast<std::size_t>(count)};
}

}  // namespace

IoResult receive_some(int socket, std::span<char> room, Transport transport) {
  if (transport == Transport::tcp) return consume(socket, room);
  const IoResult seen = look(socket, room);
  if (seen.status != IoStatus::done) return seen;
  // No more than was looked at: what came since may carry something.
  return consume(socket, room.first(seen.count));
}

IoResult send_some(int socket, std::string_view bytes) {
  const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0) return failed();
  return {IoStatus::done, static_cast<std::size_t>(count)};
}

bool Outbox::flush() {
  while (queued() > 0) {
    const IoResult result = send_some(socket_, std::string_view(queue_).substr(sent_));
    if (result.status == IoStatus::closed) return false;
    if (result.status == IoStatus::would_block) break;
    sent(result.count);
  }
  static_cast<void>(watch_.want_write(queued() > 0));
  return true;
}

void Outbox::sent(std::size_t count) {
  sent_ += count;
  if (sent_ == queue_.size()) {
    sent_ = 0;
    queue_.clear();
    if (queue_.capacity() > keep_capacity) queue_ = std::string{};
  } else if (sent_ > queued()) {
    queue_.erase(0, sent_);
    sent_ = 0;
  }
}

}  // namespace cellblock::http
