#include "supervisor/gateway/upstream/opaque_tokens.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "policy/json/raw_json.h"
#include "policy/mcp/meta_keys.h"
#include "supervisor/gateway/message/tree_reader.h"
#include "supervisor/gateway/message/tree_writer.h"

namespace cellblock::gateway {

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
  using Json = nlohmann::ordered_json;
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
