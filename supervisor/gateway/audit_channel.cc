#include "supervisor/gateway/audit_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cellblock::gateway {

AuditChannel::AuditChannel(EventLoop& loop, Fd socket)
    : loop_(loop), timer_(loop, [this] { flush(); }) {
  adopt(std::move(socket));
}

void AuditChannel::adopt(Fd socket) {
  watch_.reset();
  socket_ = std::move(socket);
  watch_ = std::make_unique<Watch>(loop_, socket_.get());
  watch_->on_writable = [this] {
    blocked_ = false;
    flush();
  };
  // The writer says nothing: readable means that it is gone.
  watch_->on_readable = [this] { break_off(); };
  blocked_ = false;
  broken_ = !watch_->want_read(true).has_value();
}

void AuditChannel::replace(Fd socket) {
  adopt(std::move(socket));
  flush();
}

void AuditChannel::break_off() {
  broken_ = true;
  watch_->forget();
}

void AuditChannel::add(const wire::AuditRecord& record) {
  if (queue_.size() == max_queued) wait_for_room();
  if (queue_.size() == most) return break_off();
  queue_.push_back(record);
  if (queue_.size() >= batch) return flush();
  if (!timer_.is_set()) timer_.set(delay);
}

// The one place where the gateway stands still, and on purpose: no call may go unrecorded, and to
// refuse calls because many were made would punish the user for a busy moment.
void AuditChannel::wait_for_room() {
  if (broken_) return;
  pollfd writer{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
  if (::poll(&writer, 1, static_cast<int>(patience.count())) != 1) return;
  blocked_ = false;
  flush();
}

void AuditChannel::flush() {
  timer_.cancel();
  while (!queue_.empty() && !blocked_ && !broken_) send_batch();
  if (!broken_) static_cast<void>(watch_->want_write(blocked_));
}

void AuditChannel::send_batch() {
  std::array<iovec, batch> pieces{};
  std::array<mmsghdr, batch> messages{};
  const std::size_t count = std::min(queue_.size(), batch);
  for (std::size_t i = 0; i < count; ++i) {
    pieces[i] = {&queue_[i], sizeof(wire::AuditRecord)};
    messages[i].msg_hdr.msg_iov = &pieces[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const int sent = ::sendmmsg(socket_.get(), messages.data(), static_cast<unsigned>(count),
                              MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && errno == EINTR) return;
  if (sent < 0 && errno == EAGAIN) {
    blocked_ = true;
    return;
  }
  if (sent < 0) return break_off();
  queue_.erase(queue_.begin(), queue_.begin() + sent);
}

}  // namespace cellblock::gateway
