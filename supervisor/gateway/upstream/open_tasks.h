#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "supervisor/os/clock.h"

namespace cellblock::gateway {

/// Tasks that a host has been told of and that are not known to have ended. Bounded: the oldest
/// falls out, and one of which nothing is heard for as long as its name lives.
class OpenTasks {
 public:
  static constexpr std::size_t most = 1'024;

  /// By the server's id, in raw JSON.
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

}  // namespace cellblock::gateway
