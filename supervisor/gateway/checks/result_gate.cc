#include "supervisor/gateway/checks/result_gate.h"

#include <algorithm>
#include <utility>

namespace cellblock::gateway {

// Between what others have done to the line, and not where one of them wrote something else.
void ResultGate::add_path_advice(const ServerAnswer& answer,
                                 std::vector<Replacement>& edits) const {
  if (answer.call.kind != CallKind::tool_call) return;
  auto addition = refusal_reports_.addition(server_index_, answer.line, answer.message);
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
//   redaction -> advice on declared paths -> bounds -> (conversation: id, size of the line, record,
//   host)
std::expected<Delivery, Failure> ResultGate::pass(const ServerAnswer& answer,
                                                  std::vector<Replacement> edits) {
  Delivery delivery{.edits = std::move(edits), .remark = {}};
  auto redacted = redaction_.pass(Direction::to_host, answer.line, answer.message, delivery.edits);
  if (!redacted) return std::unexpected(std::move(redacted.error()));
  add_path_advice(answer, delivery.edits);
  if (!bounds_results_) return delivery;
  const BoundableAnswer boundable{answer.line, answer.message, answer.call, answer.now};
  if (bounding_.apply(boundable, delivery.edits) == ResultBounding::Done::bounded) {
    delivery.remark = "bounded";
  }
  return delivery;
}

}  // namespace cellblock::gateway
