#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"

namespace cellblock::gateway {

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
  /// Those about this task, in their order.
  std::vector<Held> take(std::string_view raw_task);
  /// No call is in flight that could create a task: how many are given up.
  std::size_t give_up();
  bool empty() const { return held_.empty(); }

 private:
  std::deque<Held> held_;
};

}  // namespace cellblock::gateway
