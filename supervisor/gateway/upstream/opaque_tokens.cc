#include "supervisor/gateway/upstream/opaque_tokens.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "policy/json/json_text.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {
namespace {

std::size_t hash_of(std::string_view sealed) { return std::hash<std::string_view>()(sealed); }

}  // namespace

void OutstandingTokens::add(std::string_view sealed, Time until) {
  if (values_.size() == most) values_.pop_front();
  values_.push_back({hash_of(sealed), until});
}

void OutstandingTokens::came_back(std::string_view sealed) {
  const std::size_t hash = hash_of(sealed);
  std::erase_if(values_, [hash](const Value& value) { return value.hash == hash; });
}

bool OutstandingTokens::any(Time now) const {
  return std::ranges::any_of(values_, [now](const Value& value) { return now < value.until; });
}

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

namespace {

bool is_there(std::string_view raw) { return !raw.empty() && raw != "null"; }

bool is_text(std::string_view raw) {
  return raw.size() >= 2 && raw.front() == '"' && raw.back() == '"';
}

std::string_view member_of(const std::vector<RawMember>& members, std::string_view name) {
  const RawMember* found = find_member(members, name);
  return found == nullptr ? std::string_view{} : found->value;
}

std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

}  // namespace

void OpaqueTokens::made_tasks(std::string_view line, const Message& message,
                              std::string_view tool) {
  if (message.task_ids.empty()) return;
  const auto claim = [&](std::string_view id) {
    const auto is_it = [&](Span handed_out) { return handed_out.in(line).data() == id.data(); };
    if (is_there(id) && std::ranges::any_of(message.task_ids, is_it)) claims_.claim(id, tool);
  };
  const auto result = raw_members(message.result.in(line));
  if (!result) return;
  claim(member_of(*result, "taskId"));
  if (const auto task = raw_members(member_of(*result, "task"))) claim(member_of(*task, "taskId"));
}

std::string_view OpaqueTokens::tool_behind(std::string_view line, const Message& message) const {
  std::vector<std::string_view> raw;
  raw.reserve(message.task_ids.size());
  for (const Span id : message.task_ids) raw.push_back(id.in(line));
  return claims_.tool_of(raw);
}

std::string_view OpaqueTokens::tool_behind(const Message& message,
                                           const std::vector<Replacement>& edits) const {
  std::vector<std::string_view> raw;
  for (const Span id : message.task_ids) {
    const auto opened = std::ranges::find(edits, id, &Replacement::where);
    if (opened != edits.end()) raw.push_back(opened->text);
  }
  return claims_.tool_of(raw);
}

SealBinding OpaqueTokens::binding(SealPurpose purpose) const {
  SealBinding binding = whose_;
  binding.purpose = purpose;
  return binding;
}

bool OpaqueTokens::give_back(std::string_view line, const Message& message, Time now,
                             std::vector<Replacement>& edits) {
  const bool are_ours = open(SealPurpose::cursor, line, message.cursor, now, edits) &&
                        open(SealPurpose::request_state, line, message.request_state, now, edits) &&
                        std::ranges::all_of(message.task_ids, [&](Span id) {
                          return open(SealPurpose::task, line, id, now, edits);
                        });
  lists_.came_back(message.cursor.in(line));
  questions_.came_back(message.request_state.in(line));
  return are_ours;
}

bool OpaqueTokens::open(SealPurpose purpose, std::string_view line, Span where, Time now,
                        std::vector<Replacement>& edits) const {
  const std::string_view raw = where.in(line);
  if (!is_there(raw)) return true;
  if (!is_text(raw)) return false;
  auto value = sealer_.open(binding(purpose), raw.substr(1, raw.size() - 2), now);
  if (value) edits.push_back({where, std::move(*value)});
  return value.has_value();
}

bool OpaqueTokens::hand_out(std::string_view line, const Message& message, Time now,
                            std::vector<Replacement>& edits) {
  if (!seal(SealPurpose::cursor, line, message.next_cursor, now + cursor_life, edits)) return false;
  if (is_there(message.next_cursor.in(line))) lists_.add(edits.back().text, now + page_patience);
  if (!seal(SealPurpose::request_state, line, message.request_state, now + state_life, edits)) {
    return false;
  }
  if (is_there(message.request_state.in(line))) questions_.add(edits.back().text, now + state_life);
  return std::ranges::all_of(message.task_ids,
                             [&](Span id) { return hand_out_task(line, id, now, edits); });
}

bool OpaqueTokens::hand_out_cleaned(std::string& result, Time now) {
  Json tree = read_tree(result);
  if (!tree.is_object()) return false;
  // No answer of these kinds has them.
  for (const char* key : {"requestState", "taskId", "task", "tasks", "inputRequests"}) {
    tree.erase(key);
  }
  if (const auto meta = tree.find("_meta"); meta != tree.end() && meta->is_object()) {
    meta->erase(mcp::meta_key::subscription);
    meta->erase(mcp::meta_key::related_task);
  }
  const auto cursor = tree.find("nextCursor");
  if (cursor != tree.end() && !cursor->is_null()) {
    auto sealed = sealer_.seal(binding(SealPurpose::cursor), now + cursor_life, cursor->dump());
    if (!sealed) return false;
    lists_.add(in_quotes(*sealed), now + page_patience);
    *cursor = std::move(*sealed);
  }
  result = write_tree(tree);
  return true;
}

bool OpaqueTokens::seal(SealPurpose purpose, std::string_view line, Span where, Time expires,
                        std::vector<Replacement>& edits) {
  const std::string_view raw = where.in(line);
  if (!is_there(raw)) return true;
  const auto sealed = sealer_.seal(binding(purpose), expires, raw);
  if (sealed) edits.push_back({where, in_quotes(*sealed)});
  return sealed.has_value();
}

bool OpaqueTokens::hand_out_task(std::string_view line, Span where, Time now,
                                 std::vector<Replacement>& edits) {
  const std::string_view raw = where.in(line);
  if (!is_there(raw)) return true;
  if (raw.size() > TaskIds::longest_id) return false;
  if (const std::string* known = tasks_.find(raw, now)) {
    edits.push_back({where, *known});
    return true;
  }
  if (!seal(SealPurpose::task, line, where, now + task_life, edits)) return false;
  tasks_.add(raw, edits.back().text, now + task_life);
  return true;
}

}  // namespace cellblock::gateway
