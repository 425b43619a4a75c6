#include "supervisor/gateway/upstream/open_tasks.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "supervisor/gateway/message/tree_reader.h"

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

}  // namespace cellblock::gateway
