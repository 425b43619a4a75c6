#include "supervisor/gateway/policy/result_gate.h"

#include <utility>

namespace cellblock::gateway {

// Each stage is a class of its own, asked in one line. The order is forced: what is cut in two is
// no longer found by whoever looks for it, and what is kept to be read on is what may be read at
// all.
//
//   redaction -> bounds -> (conversation: id, size of the line, record, host)
std::expected<Delivery, Failure> ResultGate::pass(const ServerAnswer& answer,
                                                  std::vector<Replacement> edits) {
  Delivery delivery{.edits = std::move(edits), .remark = {}};
  auto redacted = redaction_.pass(Direction::to_host, answer.line, answer.message, delivery.edits);
  if (!redacted) return std::unexpected(std::move(redacted.error()));
  if (!bounds_results_) return delivery;
  const BoundableAnswer boundable{answer.line, answer.message, answer.call, answer.now};
  if (bounding_.apply(boundable, delivery.edits) == ResultBounding::Done::bounded) {
    delivery.remark = "bounded";
  }
  return delivery;
}

}  // namespace cellblock::gateway
