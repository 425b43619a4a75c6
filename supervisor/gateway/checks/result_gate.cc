#include "supervisor/gateway/checks/result_gate.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "policy/json/json_text.h"
#include "policy/results/bounded_result.h"
#include "policy/results/bounding_notes.h"
#include "supervisor/gateway/checks/edited_part.h"

namespace cellblock::gateway {
namespace {

std::optional<ResultShape> shape_of(CallKind kind) {
  switch (kind) {
    case CallKind::tool_call:
      return ResultShape::tool_call;
    case CallKind::task_result:
      return ResultShape::task_result;
    case CallKind::resource_read:
      return ResultShape::resource_read;
    case CallKind::prompt_get:
      return ResultShape::prompt;
    case CallKind::task_state:
      return ResultShape::task_state;
    default:
      return std::nullopt;
  }
}

// Which is the least of each that this server or one of its tools has.
ResultBounds tightest_of(const ServerResults& results) {
  ResultBounds tightest = results.bounds;
  for (const ToolResults& tool : results.tools) {
    const ResultBounds& other = tool.bounds;
    if (other.bounding == Bounding::off) continue;
    if (tightest.bounding == Bounding::off) {
      tightest = other;
      continue;
    }
    tightest.max_bytes = std::min(tightest.max_bytes, other.max_bytes);
    tightest.max_item_bytes = std::min(tightest.max_item_bytes, other.max_item_bytes);
    tightest.max_media_bytes = std::min(tightest.max_media_bytes, other.max_media_bytes);
    tightest.max_items = std::min(tightest.max_items, other.max_items);
    tightest.max_depth = std::min(tightest.max_depth, other.max_depth);
  }
  return tightest;
}

// The server decides whether somebody knows: that must win it nothing.
ResultBounds bounds_of_task(const ServerResults& results, std::string_view tool) {
  return tool.empty() ? tightest_of(results) : bounds_of(results, tool);
}

ResultBounds bounds_for(const ServerResults& results, const Call& call) {
  const bool is_of_task = call.kind == CallKind::task_state || call.kind == CallKind::task_result;
  return is_of_task ? bounds_of_task(results, call.task_tool) : bounds_of(results, call.tool);
}

Span member_in(std::string_view line, Span object, std::string_view name) {
  const auto members = raw_members(object.in(line));
  const RawMember* found = members ? find_member(*members, name) : nullptr;
  if (found == nullptr) return {};
  const auto begin = static_cast<std::uint32_t>(found->value.data() - line.data());
  return {begin, begin + static_cast<std::uint32_t>(found->value.size())};
}

}  // namespace

ResultBounding::Done ResultBounding::apply(const BoundableAnswer& answer,
                                           std::vector<Replacement>& edits) const {
  if (answer.call.kind == CallKind::tools_list && answer.message.kind == MessageKind::result) {
    return list_tool(answer, edits);
  }
  const auto shape = shape_of(answer.call.kind);
  if (!shape) return Done::nothing;
  const ResultBounds bounds = bounds_for(server_.results, answer.call);
  const bool is_error = answer.message.kind == MessageKind::error;
  const Piece piece{.line = answer.line,
                    .where = is_error ? answer.message.error : answer.message.result,
                    .bounds = bounds,
                    .era = answer.call.era,
                    .now = answer.now};
  if (is_error) return bound_error(piece, edits);
  return shape == ResultShape::task_state ? bound_state(piece, edits)
                                          : bound_result(piece, *shape, edits);
}

ResultBounding::Done ResultBounding::bound_task(const BoundableTask& task,
                                                std::vector<Replacement>& edits) const {
  const ResultBounds bounds = bounds_of_task(server_.results, task.tool);
  return bound_state(
      {.line = task.line, .where = task.state, .bounds = bounds, .era = task.era, .now = task.now},
      edits);
}

// What is in it first: the rest is then judged without it.
ResultBounding::Done ResultBounding::bound_state(const Piece& state,
                                                 std::vector<Replacement>& edits) const {
  if (!may_exceed(edited_size(state.where, edits), state.bounds)) return Done::nothing;
  Piece inside = state;
  Done done = Done::nothing;
  inside.where = member_in(state.line, state.where, "result");
  if (bound_result(inside, ResultShape::task_result, edits) == Done::bounded) done = Done::bounded;
  inside.where = member_in(state.line, state.where, "error");
  if (bound_error(inside, edits) == Done::bounded) done = Done::bounded;
  if (bound_result(state, ResultShape::task_state, edits) == Done::bounded) done = Done::bounded;
  return done;
}

ResultBounding::Done ResultBounding::bound_result(const Piece& piece, ResultShape shape,
                                                  std::vector<Replacement>& edits) const {
  if (!may_exceed(edited_size(piece.where, edits), piece.bounds)) return Done::nothing;
  const EditedPart part(piece.line, piece.where, edits);
  if (!part.is_sound()) return Done::nothing;
  const LinkForm links = piece.era == Era::modern ? LinkForm::resource_link : LinkForm::text;
  const auto bounded = BoundedResult::of(part.text(), shape, links, piece.bounds);
  if (!bounded) return Done::nothing;
  const KeptParts kept = kept_ == nullptr
                             ? KeptParts{}
                             : kept_->keep(bounded->withheld(), piece.bounds.max_bytes, piece.now);
  replace_part(piece.where, bounded->write(kept), edits);
  return Done::bounded;
}

ResultBounding::Done ResultBounding::bound_error(const Piece& piece,
                                                 std::vector<Replacement>& edits) {
  if (!may_exceed(edited_size(piece.where, edits), piece.bounds)) return Done::nothing;
  const EditedPart part(piece.line, piece.where, edits);
  if (!part.is_sound()) return Done::nothing;
  auto bounded = bounded_error(part.text(), piece.bounds);
  if (!bounded) return Done::nothing;
  replace_part(piece.where, *std::move(bounded), edits);
  return Done::bounded;
}

ResultBounding::Done ResultBounding::list_tool(const BoundableAnswer& answer,
                                               std::vector<Replacement>& edits) const {
  const std::string_view next = answer.message.next_cursor.in(answer.line);
  const bool is_last_page = next.empty() || next == "null";
  if (tool_ == ReadingTool::not_listed || !is_last_page) return Done::nothing;
  const Span where = answer.message.result;
  const EditedPart part(answer.line, where, edits);
  if (!part.is_sound()) return Done::nothing;
  replace_part(where, with_reading_tool(part.text(), tool_shown()), edits);
  return Done::listed;
}

ReadingTool ResultBounding::tool_shown() const {
  if (kept_ == nullptr) return ReadingTool::listed;
  const bool hears = hears_tool_changes_ && hears_tool_changes_();
  return kept_->offer().listed_for(hears ? ReadingToolOffer::Host::hears_changes
                                         : ReadingToolOffer::Host::hears_nothing);
}

// Between what others have done to the line, and not where one of them wrote something else.
void ResultGate::add_path_advice(const ServerAnswer& answer,
                                 std::vector<Replacement>& edits) const {
  if (answer.call.kind != CallKind::tool_call) return;
  auto addition =
      refusal_reports_.addition(server_index_, answer.line, answer.message, answer.refused);
  if (!addition) return;
  const bool is_free = std::ranges::none_of(edits, [&](const Replacement& edit) {
    return edit.where.begin < addition->where.begin && addition->where.begin < edit.where.end;
  });
  if (is_free) edits.push_back(std::move(*addition));
}

// Each stage is a class of its own, asked in one line. The order is forced: what is cut in two is
// no longer found by whoever looks for it, and what is kept to be read on is what may be read at
// all.
//
//   redaction -> advice on declared paths -> marks of untrusted texts -> bounds -> (upstream: id,
//   size of the line, record, host)
std::expected<Delivery, Failure> ResultGate::pass(const ServerAnswer& answer,
                                                  std::vector<Replacement> edits) {
  Delivery delivery{.edits = std::move(edits), .remark = {}};
  auto redacted = redaction_.pass(Direction::to_host, answer.line, answer.message, delivery.edits);
  if (!redacted) return std::unexpected(std::move(redacted.error()));
  add_path_advice(answer, delivery.edits);
  if (!bounds_results_) return delivery;
  untrusted_.mark_answer(answer.line, answer.message, answer.call, delivery.edits);
  const BoundableAnswer boundable{answer.line, answer.message, answer.call, answer.now};
  if (bounding_.apply(boundable, delivery.edits) == ResultBounding::Done::bounded) {
    delivery.remark = "bounded";
  }
  return delivery;
}

void ResultGate::pass_task(const BoundableTask& task, std::vector<Replacement>& edits) {
  if (!bounds_results_) return;
  untrusted_.mark_task(task.line, task.state, task.tool, edits);
  bounding_.bound_task(task, edits);
}

FoundCounts ResultGate::take_found() {
  FoundCounts found = redaction_.take_found();
  for (const auto& [name, count] : untrusted_.take_found()) found[name] += count;
  return found;
}

}  // namespace cellblock::gateway
