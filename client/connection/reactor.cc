#include "client/connection/reactor.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace cellblock::client {
namespace {

using SteadyClock = std::chrono::steady_clock;

// How often one process() looks for tasks that tasks have left: a completion that starts what fails
// at once would otherwise keep it for ever.
constexpr unsigned task_rounds = 16;

Error no_descriptor(int number) {
  return {.code = ErrorCode::unreachable,
          .text = "no descriptor to wait by: " + std::generic_category().message(number)};
}

bool control(int set, int operation, int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  return ::epoll_ctl(set, operation, fd, &event) == 0;
}

}  // namespace

// While it lives, what is posted needs no signal: process() looks before it ends.
class Reactor::Processing {
 public:
  explicit Processing(Reactor& reactor) : reactor_(reactor) {
    if (!begin()) return;
    std::uint64_t count = 0;
    static_cast<void>(!::read(reactor.signal_.get(), &count, sizeof(count)));
  }
  ~Processing() {
    if (!owner_) return;
    const std::lock_guard lock(reactor_.mutex_);
    reactor_.processing_ = false;
    if (!reactor_.tasks_.empty()) reactor_.signal();
  }
  Processing(const Processing&) = delete;
  Processing& operator=(const Processing&) = delete;

  explicit operator bool() const { return owner_; }

 private:
  // Whether there is a signal to take away: there comes none meanwhile.
  bool begin() {
    const std::lock_guard lock(reactor_.mutex_);
    owner_ = !std::exchange(reactor_.processing_, true);
    return owner_ && std::exchange(reactor_.is_signalled_, false);
  }

  Reactor& reactor_;
  bool owner_ = false;
};

Reactor::Reactor()
    : set_(::epoll_create1(EPOLL_CLOEXEC)), signal_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!set_.valid() || !signal_.valid() ||
      !control(set_.get(), EPOLL_CTL_ADD, signal_.get(), EPOLLIN)) {
    failure_ = no_descriptor(errno);
  }
}

std::optional<Reactor::TimePoint> Reactor::deadline() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.first;
}

bool Reactor::has_tasks() const {
  const std::lock_guard lock(mutex_);
  return !tasks_.empty();
}

void Reactor::process() {
  const Processing now(*this);
  if (!now) return;
  run_all_tasks();
  if (const auto handler = handler_.lock()) handler->ready();
  run_expired();
  run_all_tasks();
}

void Reactor::drain() {
  draining_ = true;
  const Processing now(*this);
  if (now) run_all_tasks();
}

void Reactor::run_all_tasks() {
  for (unsigned round = 0; round < task_rounds || draining_; ++round) {
    std::size_t count = 0;
    {
      const std::lock_guard lock(mutex_);
      count = tasks_.size();
    }
    if (count == 0) return;
    while (count-- > 0 && run_next_task()) {
    }
  }
}

bool Reactor::run_next_task() {
  Task task;
  {
    const std::lock_guard lock(mutex_);
    if (tasks_.empty()) return false;
    task = std::move(tasks_.front());
    tasks_.pop_front();
  }
  task();
  return true;
}

// Those that are due now: one that is set meanwhile has the next call.
void Reactor::run_expired() {
  const auto now = SteadyClock::now();
  for (auto left = timers_.size(); left > 0 && !timers_.empty(); --left) {
    if (timers_.begin()->first.first > now) return;
    auto due = timers_.extract(timers_.begin());
    due.mapped()();
  }
}

void Reactor::discard() {
  std::deque<Task> dropped;
  const std::lock_guard lock(mutex_);
  discards_ = true;
  dropped.swap(tasks_);  // destroyed behind the lock: they may hold what posts
}

void Reactor::post(Task task) {
  const std::lock_guard lock(mutex_);
  if (discards_) return;
  tasks_.push_back(std::move(task));
  if (!processing_) signal();
}

// With the lock held. A child of fork() has the parent's descriptor: who is woken by it would not
// know by what.
void Reactor::signal() {
  if (process_ != ::getpid() || std::exchange(is_signalled_, true)) return;
  const std::uint64_t one = 1;
  static_cast<void>(!::write(signal_.get(), &one, sizeof(one)));
}

Reactor::TimerKey Reactor::set_timer(TimePoint when, Task task) {
  const TimerKey key{when, next_timer_++};
  if (when != TimePoint::max()) timers_.emplace(key, std::move(task));
  return key;
}

Result<void> Reactor::watch(int socket, std::weak_ptr<SocketHandler> handler) {
  unwatch();
  if (!control(set_.get(), EPOLL_CTL_ADD, socket, EPOLLIN)) {
    return Unexpected(no_descriptor(errno));
  }
  socket_ = socket;
  wants_write_ = false;
  handler_ = std::move(handler);
  return {};
}

void Reactor::unwatch() {
  if (socket_ >= 0) static_cast<void>(control(set_.get(), EPOLL_CTL_DEL, socket_, 0));
  socket_ = -1;
  handler_.reset();
}

void Reactor::want_write(bool wanted) {
  if (socket_ < 0 || std::exchange(wants_write_, wanted) == wanted) return;
  constexpr std::uint32_t both = EPOLLIN | EPOLLOUT;
  static_cast<void>(
      control(set_.get(), EPOLL_CTL_MOD, socket_, wanted ? both : std::uint32_t{EPOLLIN}));
}

void Reactor::abandon() {
  socket_ = -1;
  handler_.reset();
  set_ = OwnedFd();
  signal_ = OwnedFd();
}

}  // namespace cellblock::client
