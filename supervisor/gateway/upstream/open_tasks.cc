#include "supervisor/gateway/upstream/open_tasks.h"

#include <array>
#include <nlohmann/json.hpp>

#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

void OpenTasks::begin(std::string_view task, Time expires) {
  end(task);
  if (tasks_.size() == most) tasks_.pop_front();
  tasks_.push_back({std::string(task), expires});
}

void OpenTasks::end(std::string_view task) {
  std::erase_if(tasks_, [task](const Task& one) { return one.id == task; });
}

bool OpenTasks::any(Time now) const {
  return std::ranges::any_of(tasks_, [now](const Task& one) { return now < one.expires; });
}

bool says_ended(std::string_view body) {
  static constexpr std::array<std::string_view, 3> ends{"completed", "failed", "cancelled"};
  const auto json = read_tree(body);
  if (!json.is_object()) return false;
  const auto status = json.find("status");
  if (status == json.end() || !status->is_string()) return false;
  return std::ranges::find(ends, status->get_ref<const std::string&>()) != ends.end();
}

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
