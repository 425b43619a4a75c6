#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "supervisor/os/sys.h"

/// Readiness and deadlines for one thread: level-triggered epoll, one sorted set of timers.
///
/// Of the gateway and the egress helper. Not Boost.Asio: its descriptors switch O_NONBLOCK on in
/// the file *description*, which a gateway shares with its host where stdio was handed over, and
/// its waits cost a system call each (docs/decisions/0008-the-gateway-has-its-own-event-loop.md).
namespace cellblock {

using Milliseconds = std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

class EventLoop {
 public:
  static SysResult<std::unique_ptr<EventLoop>> make();
  explicit EventLoop(Fd epoll) : epoll_(std::move(epoll)) {}

  /// Until stop(), or an error of epoll itself.
  SysResult<void> run();
  /// Waits once, and does what that brings.
  SysResult<void> turn();
  void stop() { stopped_ = true; }

  /// `then` runs once no descriptor has been ready for `time`, at the latest `at_latest` after the
  /// first that has been; and next after one has been again. Timers do not count.
  void when_idle(Milliseconds time, Milliseconds at_latest, std::function<void()> then);

  /// When this turn began.
  Time now() const { return now_; }

  /// Runs at the end of this turn. What a callback stands on may only be destroyed there.
  void defer(std::function<void()> work) { deferred_.push_back(std::move(work)); }

 private:
  friend class Watch;
  friend class Timer;

  int wait_milliseconds() const;
  void expire();
  void run_deferred();
  std::optional<Time> next_due() const;
  void was_busy();
  void look_whether_idle();

  Fd epoll_;
  Time now_ = std::chrono::steady_clock::now();
  bool stopped_ = false;
  // Keyed by number, not by pointer: an event of this turn may be about a descriptor that an
  // earlier event of the same turn has closed.
  std::unordered_map<std::uint64_t, class Watch*> watches_;
  std::uint64_t next_watch_ = 1;
  std::multimap<Time, class Timer*> timers_;
  std::vector<std::function<void()>> deferred_;
  Milliseconds idle_time_{};
  Milliseconds longest_busy_{};
  Time busy_since_{};
  std::function<void()> on_idle_;
  std::optional<Time> idle_at_;  ///< no value: nothing has been ready since it was told
};

/// Interest in one descriptor, which must stay open until forget() or the end of this object.
class Watch {
 public:
  Watch(EventLoop& loop, int descriptor) : loop_(loop), descriptor_(descriptor) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { forget(); }

  /// Readable, or at its end. A hang-up or an error counts as both.
  std::function<void()> on_readable;
  std::function<void()> on_writable;

  SysResult<void> want_read(bool wanted);
  SysResult<void> want_write(bool wanted);
  void forget();

 private:
  friend class EventLoop;
  SysResult<void> apply(std::uint32_t events);
  void ready(std::uint32_t events);

  EventLoop& loop_;
  int descriptor_;
  std::uint64_t number_ = 0;
  std::uint32_t events_ = 0;  ///< 0: not registered, since epoll would report a hang-up for ever
};

class Timer {
 public:
  Timer(EventLoop& loop, std::function<void()> on_expiry)
      : loop_(loop), on_expiry_(std::move(on_expiry)) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { cancel(); }

  void set(Milliseconds from_now);
  void cancel();
  bool is_set() const { return place_.has_value(); }

 private:
  friend class EventLoop;
  EventLoop& loop_;
  std::function<void()> on_expiry_;
  std::optional<std::multimap<Time, Timer*>::iterator> place_;
};

}  // namespace cellblock
