#include "supervisor/gateway/upstream/task_owners.h"

#include <iterator>

namespace cellblock::gateway {

void TaskOwners::claim(std::string_view raw, std::string_view tool) {
  if (const auto found = by_id_.find(raw); found != by_id_.end()) {
    Claim& known = *found->second;
    if (known.tool == tool) return;
    bytes_ -= known.tool.size();
    known.tool.clear();
    return;
  }
  claims_.push_back({std::string(raw), std::string(tool)});
  const auto added = std::prev(claims_.end());
  by_id_.emplace(added->raw, added);
  bytes_ += added->bytes();
  while (claims_.size() > most || bytes_ > max_bytes) remove_oldest();
}

std::string_view TaskOwners::tool_of(std::span<const std::string_view> raw) const {
  const std::string* tool = nullptr;
  for (const std::string_view id : raw) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end() || (tool != nullptr && *tool != found->second->tool)) return {};
    tool = &found->second->tool;
  }
  return tool == nullptr ? std::string_view{} : *tool;
}

void TaskOwners::remove_oldest() {
  const auto oldest = claims_.begin();
  bytes_ -= oldest->bytes();
  by_id_.erase(oldest->raw);
  claims_.erase(oldest);
}

}  // namespace cellblock::gateway
