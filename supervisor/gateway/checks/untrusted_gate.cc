#include "supervisor/gateway/checks/untrusted_gate.h"

#include <algorithm>

#include "policy/flows/tool_labels.h"
#include "supervisor/gateway/checks/edited_part.h"

namespace cellblock::gateway {
namespace {

MarkNote note_for(CallKind kind) {
  const bool is_of_call = kind == CallKind::tool_call || kind == CallKind::task_result;
  return is_of_call ? MarkNote::content : MarkNote::meta;
}

UntrustedText strictest_of(const ServerResults& results) {
  UntrustedText strictest = results.bounds.untrusted;
  for (const ToolResults& tool : results.tools) {
    strictest = std::max(strictest, tool.bounds.untrusted);
  }
  return strictest;
}

}  // namespace

void UntrustedGate::mark_answer(std::string_view line, const Message& message, const Call& call,
                                std::vector<Replacement>& edits) {
  const bool is_error = message.kind == MessageKind::error;
  mark({.line = line,
        .where = is_error ? message.error : message.result,
        .note = is_error ? MarkNote::none : note_for(call.kind)},
       how_for(call), edits);
}

void UntrustedGate::mark_task(std::string_view line, Span state, std::string_view tool,
                              std::vector<Replacement>& edits) {
  mark({.line = line, .where = state, .note = MarkNote::meta}, how_for_task(tool), edits);
}

void UntrustedGate::mark(const Part& part, UntrustedText how, std::vector<Replacement>& edits) {
  if (how == UntrustedText::pass || part.where.empty()) return;
  const EditedPart edited(part.line, part.where, edits);
  if (!edited.is_sound()) return;
  const auto again = [this](std::string_view text) { return redacted_again(text); };
  auto marked = marked_result(edited.text(), {.how = how, .note = part.note, .look_again = again});
  if (!marked) return;
  count(marked->counts);
  replace_part(part.where, std::move(marked->json), edits);
}

// What was spelled with invisible characters was not found before.
std::string UntrustedGate::redacted_again(std::string_view text) {
  const Result<Redactor>& redactor = redactions_.of(server_index_);
  if (!redactor || !redactor->watches(Direction::to_host)) return std::string(text);
  FoundCounts found;
  std::string made = redactor->of_text(Direction::to_host, text, found);
  redactions_.add(server_index_, Direction::to_host, found);
  for (const auto& [name, number] : found) found_[name] += number;
  return made;
}

UntrustedText UntrustedGate::how_for(const Call& call) const {
  switch (call.kind) {
    case CallKind::tool_call:
      return how_for_tool(call.tool);
    case CallKind::resource_read:
    case CallKind::prompt_get:
      return how_for_content();
    case CallKind::task_result:
    case CallKind::task_state:
      return how_for_task(call.task_tool);
    default:
      return UntrustedText::pass;
  }
}

UntrustedText UntrustedGate::how_for_tool(std::string_view tool) const {
  const UntrustedText how = bounds_of(server_.results, tool).untrusted;
  if (how == UntrustedText::pass) return how;
  return labels_of_tool(server_, tool).has(FlowLabel::untrusted) ? how : UntrustedText::pass;
}

UntrustedText UntrustedGate::how_for_content() const {
  const UntrustedText how = server_.results.bounds.untrusted;
  if (how == UntrustedText::pass) return how;
  return labels_of_content(server_).has(FlowLabel::untrusted) ? how : UntrustedText::pass;
}

// The server can keep the tool unknown. It must not escape a tool's stricter setting by that.
UntrustedText UntrustedGate::how_for_task(std::string_view tool) const {
  if (!tool.empty()) return how_for_tool(tool);
  const UntrustedText how = strictest_of(server_.results);
  return labels_of_content(server_).has(FlowLabel::untrusted) ? how : UntrustedText::pass;
}

void UntrustedGate::count(const MarkCounts& counts) {
  FoundCounts found;
  const auto add = [&found](const char* name, std::uint64_t number) {
    if (number > 0) found[name] += number;
  };
  add("invisible_characters", counts.hidden);
  add("terminal_sequences", counts.terminal);
  add("chat_tokens", counts.tokens);
  redactions_.add(server_index_, Direction::to_host, found);
  for (const auto& [name, number] : found) found_[name] += number;
}

}  // namespace cellblock::gateway
