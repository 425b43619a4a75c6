#include "supervisor/egress/event_sender.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace cellblock::egress {

EventSender::EventSender(EventLoop& loop, Fd gateway)
    : loop_(loop),
      gateway_(std::move(gateway)),
      watch_(loop, gateway_.get()),
      timer_(loop, [this] { flush(); }),
      later_(loop) {
  // It says nothing: readable means that it is gone.
  watch_.on_readable = [this] { loop_.stop(); };
  watch_.on_writable = [this] {
    blocked_ = false;
    flush();
  };
}

SysResult<void> EventSender::start() { return watch_.want_read(true); }

// At the end of the turn, so that alike ones of a turn are one.
void EventSender::tell(const wire::EgressEvent& event, EventQueue::Room room) {
  queue_.add(event, room);
  if (std::exchange(flush_is_due_, true)) return;
  later_.run([this] {
    flush_is_due_ = false;
    flush();
  });
}

void EventSender::finish() {
  finishing_ = true;
  queue_.lift_rate();
  flush();
}

void EventSender::flush() {
  const Time now = loop_.now();
  while (!blocked_) {
    const wire::EgressEvent* event = queue_.next(now);
    if (event == nullptr) break;
    const auto sent = send_record(gateway_.get(), *event, {}, MSG_DONTWAIT);
    if (sent) {
      queue_.take(now);
    } else if (sent.error().number == EAGAIN) {
      blocked_ = true;
    } else {
      return loop_.stop();
    }
  }
  if (!watch_.want_write(blocked_)) return loop_.stop();
  const auto due = queue_.due();
  if (finishing_ && !due) return loop_.stop();
  if (blocked_ || !due) return timer_.cancel();
  timer_.set(std::max(Milliseconds(1), std::chrono::ceil<Milliseconds>(*due - now)));
}

}  // namespace cellblock::egress
