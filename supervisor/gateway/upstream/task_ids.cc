#include "supervisor/gateway/upstream/task_ids.h"

#include <iterator>
#include <utility>

namespace cellblock::gateway {

const std::string* TaskIds::find(std::string_view raw, Time now) const {
  const auto found = by_id_.find(raw);
  if (found == by_id_.end() || now >= found->second->expires) return nullptr;
  return &found->second->name;
}

void TaskIds::add(std::string_view raw, std::string name, Time expires) {
  if (const auto old = by_id_.find(raw); old != by_id_.end()) remove(old->second);
  tasks_.push_back({std::string(raw), std::move(name), expires});
  const auto added = std::prev(tasks_.end());
  by_id_.emplace(added->raw, added);
  bytes_ += added->bytes();
  make_room();
}

void TaskIds::make_room() {
  while (tasks_.size() > most || bytes_ > max_bytes) remove(tasks_.begin());
}

void TaskIds::remove(Tasks::iterator task) {
  bytes_ -= task->bytes();
  by_id_.erase(task->raw);
  tasks_.erase(task);
}

}  // namespace cellblock::gateway
