#include "supervisor/gateway/upstream/task_status_buffer.h"

#include <utility>

namespace cellblock::gateway {

bool TaskStatusBuffer::hold(std::string_view line, const Message& message) {
  if (line.size() > longest_line) return false;
  if (held_.size() == most) held_.pop_front();
  held_.push_back({.line = std::string(line),
                   .method = message.method,
                   .params = message.params,
                   .task = message.task_ids.front()});
  return true;
}

std::vector<TaskStatusBuffer::Held> TaskStatusBuffer::take(std::string_view raw_task) {
  std::vector<Held> taken;
  std::deque<Held> others;
  for (Held& held : held_) {
    const bool same = held.task.in(held.line) == raw_task;
    if (same) {
      taken.push_back(std::move(held));
    } else {
      others.push_back(std::move(held));
    }
  }
  held_ = std::move(others);
  return taken;
}

std::size_t TaskStatusBuffer::give_up() { return std::exchange(held_, {}).size(); }

}  // namespace cellblock::gateway
