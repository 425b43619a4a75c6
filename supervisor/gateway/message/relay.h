#pragma once

#include <deque>
#include <utility>

namespace cellblock::gateway {

/// What parts tell each other that answer at once: one thing after the other, so that none of them
/// is called while it is busy.
template <typename Told>
class Relay {
 public:
  void push(Told told) { queue_.push_back(std::move(told)); }

  /// `deliver` is given each, what it brings about as well. Within a call of itself: nothing, since
  /// the outer one goes on.
  template <typename Deliver>
  void run(Deliver deliver) {
    if (std::exchange(running_, true)) return;
    while (!queue_.empty()) {
      Told next = std::move(queue_.front());
      queue_.pop_front();
      deliver(std::move(next));
    }
    running_ = false;
  }

  void clear() { queue_.clear(); }

 private:
  std::deque<Told> queue_;
  bool running_ = false;
};

}  // namespace cellblock::gateway
