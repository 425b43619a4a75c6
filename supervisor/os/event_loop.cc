#include "supervisor/os/event_loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <limits>

namespace cellblock {

namespace {
constexpr std::uint32_t readable = EPOLLIN;
constexpr std::uint32_t writable = EPOLLOUT;
constexpr std::uint32_t both = EPOLLHUP | EPOLLERR;
}  // namespace

SysResult<std::unique_ptr<EventLoop>> EventLoop::make() {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return sys_fail("epoll_create1");
  return std::make_unique<EventLoop>(std::move(epoll));
}

SysResult<void> EventLoop::run() {
  while (!stopped_) CELLBLOCK_CHECK(turn());
  return {};
}

SysResult<void> EventLoop::turn() {
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 wait_milliseconds());
  if (count < 0 && errno != EINTR) return sys_fail("epoll_wait");
  now_ = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    // A copy: the structure is packed, and a reference into it is not aligned.
    const std::uint64_t id = event.data.u64;
    const auto watch = watches_.find(id);
    if (watch != watches_.end()) watch->second->ready(event.events);
  }
  if (count > 0 && on_idle_) was_busy();
  // After the descriptors: a deadline of zero lets everything that is readable come first.
  expire();
  run_deferred();
  look_whether_idle();
  return {};
}

void EventLoop::when_idle(Milliseconds time, Milliseconds at_latest, std::function<void()> then) {
  idle_time_ = time;
  longest_busy_ = at_latest;
  on_idle_ = std::move(then);
  was_busy();
}

void EventLoop::was_busy() {
  if (!idle_at_) busy_since_ = now_;
  idle_at_ = std::min(now_ + idle_time_, busy_since_ + longest_busy_);
}

void EventLoop::look_whether_idle() {
  if (!idle_at_ || *idle_at_ > now_) return;
  idle_at_.reset();
  on_idle_();
}

std::optional<Time> EventLoop::next_due() const {
  if (timers_.empty()) return idle_at_;
  const Time timer = timers_.begin()->first;
  return idle_at_ ? std::min(timer, *idle_at_) : timer;
}

int EventLoop::wait_milliseconds() const {
  const auto due = next_due();
  if (!due) return -1;
  const auto left = std::chrono::ceil<Milliseconds>(*due - now_).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, std::numeric_limits<int>::max()));
}

// Only those that were due when this turn began: a callback that sets its timer to zero again gets
// its next turn, not this one for ever.
void EventLoop::expire() {
  std::vector<Timer*> due;
  for (auto timer = timers_.begin(); timer != timers_.end() && timer->first <= now_; ++timer) {
    due.push_back(timer->second);
  }
  for (Timer* timer : due) {
    const bool still_there =
        std::ranges::any_of(timers_, [&](const auto& entry) { return entry.second == timer; });
    if (!still_there) continue;
    timer->cancel();
    timer->on_expiry_();
  }
}

void EventLoop::run_deferred() {
  while (!deferred_.empty()) {
    for (const auto& work : std::exchange(deferred_, {})) work();
  }
}

SysResult<void> Watch::want_read(bool wanted) {
  return apply(wanted ? events_ | readable : events_ & ~readable);
}

SysResult<void> Watch::want_write(bool wanted) {
  return apply(wanted ? events_ | writable : events_ & ~writable);
}

SysResult<void> Watch::apply(std::uint32_t events) {
  if (events == events_) return {};
  if (events == 0) {
    forget();
    return {};
  }
  const int operation = events_ == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (events_ == 0) number_ = loop_.next_watch_++;
  epoll_event event{};
  event.events = events;
  event.data.u64 = number_;
  if (::epoll_ctl(loop_.epoll_.get(), operation, descriptor_, &event) != 0) {
    return sys_fail("epoll_ctl");
  }
  events_ = events;
  loop_.watches_[number_] = this;
  return {};
}

void Watch::forget() {
  if (events_ == 0) return;
  loop_.watches_.erase(number_);
  ::epoll_ctl(loop_.epoll_.get(), EPOLL_CTL_DEL, descriptor_, nullptr);
  events_ = 0;
}

void Watch::ready(std::uint32_t events) {
  const std::uint64_t number = number_;
  if ((events & (writable | both)) != 0 && (events_ & writable) != 0) on_writable();
  // The first callback may have closed the descriptor.
  if (events_ == 0 || number_ != number) return;
  if ((events & (readable | both)) != 0 && (events_ & readable) != 0) on_readable();
}

void Timer::set(Milliseconds from_now) {
  cancel();
  place_ = loop_.timers_.emplace(loop_.now() + from_now, this);
}

void Timer::cancel() {
  if (!place_) return;
  loop_.timers_.erase(*place_);
  place_.reset();
}

}  // namespace cellblock
