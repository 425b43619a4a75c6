#include "supervisor/gateway/audit/audit_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <string_view>
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
    blocked_ = stalled_ = false;
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
  if (queue_.size() >= max_queued && !stalled_) wait_for_room();
  if (queue_.size() >= most) {
    ++lost_;
    return;
  }
  if (lost_ > 0) queue_.push_back(gap());
  queue_.push_back(record);
  if (queue_.size() >= batch) return flush();
  if (!timer_.is_set()) timer_.set(delay);
}

// What could not be kept is at least counted where it is missing.
wire::AuditRecord AuditChannel::gap() {
  wire::AuditRecord record;
  record.kind = wire::AuditKind::refused;
  record.outcome = wire::AuditOutcome::error;
  constexpr std::string_view reason = "records_lost";
  std::copy(reason.begin(), reason.end(), record.reason.begin());
  record.count = std::exchange(lost_, 0);
  return record;
}

// The one place where the gateway stands still, and on purpose: no call may go unrecorded, and to
// refuse calls because many were made would punish the user for a busy moment. Once per stall: a
// writer that does not read for so long is not waited for again until it does.
void AuditChannel::wait_for_room() {
  if (broken_) return;
  pollfd writer{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
  stalled_ = ::poll(&writer, 1, static_cast<int>(patience.count())) != 1;
  if (stalled_) return;
  blocked_ = false;
  flush();
}

void AuditChannel::flush() {
  timer_.cancel();
  while (!queue_.empty() && !blocked_ && !broken_) send_next();
  if (!broken_) static_cast<void>(watch_->want_write(blocked_));
}

void AuditChannel::send_next() {
  const auto sent = send_record(socket_.get(), queue_.front(), {}, MSG_DONTWAIT);
  if (sent) return queue_.pop_front();
  if (sent.error().number != EAGAIN) return break_off();
  blocked_ = true;
}

}  // namespace cellblock::gateway
