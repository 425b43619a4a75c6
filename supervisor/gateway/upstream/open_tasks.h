#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/message/calls_in_flight.h"
#include "supervisor/os/clock.h"

namespace cellblock::gateway {

/// Tasks that a host has been told of and that are not known to have ended. Bounded: the oldest
/// falls out, and one of which nothing is heard for as long as its name lives.
class OpenTasks {
 public:
  static constexpr std::size_t most = 1'024;

  /// By the server's task id, in raw JSON.
  void begin(std::string_view task, Time expires);
  void end(std::string_view task);
  bool any(Time now) const;

 private:
  struct Task {
    std::string id;
    Time expires;
  };
  std::deque<Task> tasks_;
};

/// Whether these params or this result of a message about one task say that it has ended.
bool says_ended(std::string_view body);

/// Progress of calls that were answered with a task: in 2025-11-25 the token of such a call stands
/// for its task until there is a result. Bounded: the oldest entry is dropped, since a server need
/// not report that a task has ended.
class TaskProgress {
 public:
  static constexpr std::size_t most = 64;

  struct Running {
    std::uint64_t own_id = 0;  ///< the token, as the server knows it
    std::string token;         ///< as the host does, raw JSON
    std::string task;          ///< the server's id, raw JSON
    ProgressLimiter pace;
  };

  /// `call` was answered with that task.
  void begin(Call call, std::string_view task) {
    if (running_.size() == most) running_.pop_front();
    running_.push_back({.own_id = call.own_id,
                        .token = std::move(call.progress_token),
                        .task = std::string(task),
                        .pace = std::move(call.pace)});
  }
  /// By our token, in raw JSON. Valid until the next change.
  Running* find(std::string_view own_id) {
    const auto found = std::ranges::find(running_, parse_upstream_id(own_id), &Running::own_id);
    return found == running_.end() ? nullptr : &*found;
  }
  bool has(std::string_view own_id) const {
    return std::ranges::count(running_, parse_upstream_id(own_id), &Running::own_id) != 0;
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

/// What a server says about a task before the answer that creates it has passed: some send both in
/// the wrong order, and a host has no use for news of a task that it does not know. Bounded; the
/// oldest falls out.
class TaskStatusBuffer {
 public:
  static constexpr std::size_t most = 16;
  static constexpr std::size_t longest_line = 64U << 10;

  struct Held {
    std::string line;
    std::string method;
    Span params;  ///< in it
    Span task;    ///< likewise
  };

  /// `message` names a task. False: it is too long.
  bool hold(std::string_view line, const Message& message);
  /// The held messages about this task, in their order.
  std::vector<Held> take(std::string_view raw_task);
  /// No call is in flight that could create a task: how many are given up.
  std::size_t give_up();
  bool empty() const { return held_.empty(); }

 private:
  std::deque<Held> held_;
};

}  // namespace cellblock::gateway
