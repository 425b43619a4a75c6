#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "cellblock/error.h"
#include "client/connection/fd.h"

/// Tasks, timers and one socket, without a loop: the host's loop waits for a descriptor and a
/// deadline, and calls process().
namespace cellblock::client {

/// Never waits when it reads or writes.
class SocketHandler {
 public:
  SocketHandler() = default;
  SocketHandler(const SocketHandler&) = delete;
  SocketHandler& operator=(const SocketHandler&) = delete;
  virtual ~SocketHandler() = default;
  /// The socket may be readable or writable.
  virtual void ready() = 0;
};

/// Not thread-safe, but for post().
class Reactor {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Task = std::move_only_function<void()>;
  using TimerKey = std::pair<TimePoint, std::uint64_t>;

  Reactor();

  /// Set where the process has no descriptors left: nothing will ever wake it.
  const std::optional<Error>& failure() const { return failure_; }

  /// Readable when process() has something to do that no timer tells of: an epoll set.
  int fd() const { return set_.get(); }
  /// The deadline of the earliest timer.
  std::optional<TimePoint> deadline() const;
  bool has_tasks() const;
  bool is_watching() const { return socket_ >= 0; }

  /// Runs what is due and returns. From inside a task, nothing. What a task throws passes through;
  /// the rest runs with the next call.
  void process();

  /// Runs every task that there is, and that these leave; where process() runs already, it does so.
  void drain();

  /// Tasks are destroyed, and not run, from now on.
  void discard();

  /// From any thread: runs in process(), in the order of the calls.
  void post(Task task);

  /// TimePoint::max(): never.
  TimerKey set_timer(TimePoint when, Task task);
  void cancel_timer(const TimerKey& key) { timers_.erase(key); }

  /// One socket at a time, until unwatch(), which comes before the socket is closed.
  Result<void> watch(int socket, std::weak_ptr<SocketHandler> handler);
  void unwatch();
  /// Wakes for writing too.
  void want_write(bool wanted);

  /// In a child of fork(): closes the descriptors, and leaves the parent's set as it is.
  void abandon();

 private:
  class Processing;

  void run_all_tasks();
  bool run_next_task();
  void run_expired();
  void signal();

  OwnedFd set_;
  OwnedFd signal_;
  std::optional<Error> failure_;
  int socket_ = -1;
  bool wants_write_ = false;
  std::weak_ptr<SocketHandler> handler_;
  std::map<TimerKey, Task> timers_;
  std::uint64_t next_timer_ = 1;
  bool draining_ = false;
  const pid_t process_ = ::getpid();

  mutable std::mutex mutex_;  ///< guards what follows
  std::deque<Task> tasks_;
  bool processing_ = false;
  bool is_signalled_ = false;
  bool discards_ = false;
};

/// A timer of its owner's: set again it replaces itself, destroyed it is cancelled.
class ReactorTimer {
 public:
  explicit ReactorTimer(std::shared_ptr<Reactor> reactor) : reactor_(std::move(reactor)) {}
  ~ReactorTimer() { cancel(); }
  ReactorTimer(const ReactorTimer&) = delete;
  ReactorTimer& operator=(const ReactorTimer&) = delete;

  void expires_at(Reactor::TimePoint when, Reactor::Task task) {
    cancel();
    key_ = reactor_->set_timer(when, std::move(task));
  }
  void expires_after(std::chrono::milliseconds wait, Reactor::Task task) {
    expires_at(std::chrono::steady_clock::now() + wait, std::move(task));
  }
  void cancel() { reactor_->cancel_timer(std::exchange(key_, {})); }
  Reactor::TimePoint expiry() const { return key_.first; }

 private:
  std::shared_ptr<Reactor> reactor_;
  Reactor::TimerKey key_;
};

}  // namespace cellblock::client
