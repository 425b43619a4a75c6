#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "supervisor/gateway/message/calls_in_flight.h"
#include "supervisor/gateway/message/progress_limiter.h"
#include "supervisor/gateway/message/upstream_ids.h"

namespace cellblock::gateway {

/// Progress of calls that were answered with a task: in 2025-11-25 the token of such a call stands
/// for its task from then on, until there is a result. Bounded; the oldest falls out, as nobody has
/// to say that a task has ended.
class TaskProgress {
 public:
  static constexpr std::size_t most = 64;

  struct Running {
    std::uint64_t ours = 0;  ///< the token, as the server knows it
    std::string token;       ///< as the host does, raw JSON
    std::string task;        ///< the server's id, raw JSON
    ProgressLimiter pace;
  };

  /// `call` was answered with that task.
  void begin(Call call, std::string_view task) {
    if (running_.size() == most) running_.pop_front();
    running_.push_back({.ours = call.ours,
                        .token = std::move(call.progress_token),
                        .task = std::string(task),
                        .pace = std::move(call.pace)});
  }
  /// By our token, in raw JSON. Valid until the next change.
  Running* find(std::string_view ours) {
    const auto found = std::ranges::find(running_, parse_upstream_id(ours), &Running::ours);
    return found == running_.end() ? nullptr : &*found;
  }
  bool has(std::string_view ours) const {
    return std::ranges::count(running_, parse_upstream_id(ours), &Running::ours) != 0;
  }
  std::size_t kept_progress() const {
    std::size_t bytes = 0;
    for (const Running& one : running_) bytes += one.pace.kept_bytes();
    return bytes;
  }
  void end(std::string_view task) {
    std::erase_if(running_, [task](const Running& one) { return one.task == task; });
  }

 private:
  std::deque<Running> running_;
};

}  // namespace cellblock::gateway
