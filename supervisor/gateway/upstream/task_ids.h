#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "supervisor/os/clock.h"

namespace cellblock::gateway {

/// The names that a host knows a server's tasks by: it compares the ids that it is told, so a task
/// keeps its sealed one. The server chooses how many tasks there are and how long their ids; the
/// oldest fall out.
class TaskIds {
 public:
  static constexpr std::size_t most = 1'024;
  static constexpr std::size_t longest_id = 1U << 10;   ///< bytes of the server's raw JSON
  static constexpr std::size_t max_bytes = 512U << 10;  ///< of ids and names together

  TaskIds() = default;
  TaskIds(TaskIds&&) = default;
  TaskIds& operator=(TaskIds&&) = delete;

  /// Null: none, or no longer. Valid until the next one is added.
  const std::string* find(std::string_view raw, Time now) const;
  /// Whether it has, or had lately, a name.
  bool knows(std::string_view raw) const { return by_id_.contains(raw); }
  void add(std::string_view raw, std::string name, Time expires);

  std::size_t bytes() const { return bytes_; }

 private:
  struct Task {
    std::string raw;
    std::string name;
    Time expires;
    std::size_t bytes() const { return raw.size() + name.size(); }
  };
  using Tasks = std::list<Task>;  ///< nodes stay where they are: by_id_ looks into them

  void remove(Tasks::iterator task);
  void make_room();

  Tasks tasks_;  ///< the oldest first
  std::unordered_map<std::string_view, Tasks::iterator> by_id_;
  std::size_t bytes_ = 0;
};

}  // namespace cellblock::gateway
