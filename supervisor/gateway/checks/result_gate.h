#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "policy/results/result_items.h"
#include "supervisor/gateway/checks/kept_results.h"
#include "supervisor/gateway/checks/redaction_gate.h"
#include "supervisor/gateway/checks/refusal_reports.h"
#include "supervisor/gateway/checks/request_gate.h"
#include "supervisor/gateway/checks/untrusted_gate.h"
#include "supervisor/gateway/message/calls_in_flight.h"
#include "supervisor/os/clock.h"

/// What a server's answer passes on its way to the host, when it has been narrowed and cleaned and
/// before its id is put back. Pure.
namespace cellblock::gateway {

/// One answer that may exceed the bounds.
struct BoundableAnswer {
  std::string_view line;
  const Message& message;  ///< a result or an error
  const Call& call;
  Time now;
};

/// The state of one task: with the result of its call, when that is finished.
struct BoundableTask {
  std::string_view line;
  Span state;             ///< raw JSON, in it
  std::string_view tool;  ///< whose call made the task; empty: not known, so the tightest hold
  Era era{};
  Time now;
};

/// Keeps answers within the bounds of their server and tool. What is within them is looked at by
/// its size alone.
class ResultBounding {
 public:
  /// `kept`: null: what is left out is lost.
  explicit ResultBounding(const GateParts& parts)
      : server_(parts.server),
        kept_(parts.kept),
        tool_(parts.reading_tool),
        hears_tool_changes_(parts.hears_tool_changes) {}

  enum class Done : std::uint8_t { nothing, bounded, listed };
  /// Puts one edit of the whole result in place of those that are in it, where it has to be
  /// another.
  Done apply(const BoundableAnswer& answer, std::vector<Replacement>& edits) const;
  Done bound_task(const BoundableTask& task, std::vector<Replacement>& edits) const;

 private:
  /// What is bounded at once: a result, an error, or what a task's state has besides these.
  struct Piece {
    std::string_view line;
    Span where;
    const ResultBounds& bounds;
    Era era{};
    Time now;
  };
  Done bound_state(const Piece& state, std::vector<Replacement>& edits) const;
  Done bound_result(const Piece& piece, ResultShape shape, std::vector<Replacement>& edits) const;
  static Done bound_error(const Piece& piece, std::vector<Replacement>& edits);
  Done list_tool(const BoundableAnswer& answer, std::vector<Replacement>& edits) const;
  ReadingTool tool_shown() const;

  const Server& server_;
  KeptResults* const kept_;
  const ReadingTool tool_;
  const std::function<bool()> hears_tool_changes_;
};

/// The answer to one call of the host. Gone when the call returns.
struct ServerAnswer {
  std::string_view line;
  const Message& message;  ///< a result or an error
  const Call& call;
  Time now;
  RefusalReports::RefusedMeanwhile refused{};
};

/// What an answer goes on with.
struct Delivery {
  /// Edits of the answer's line: the edits from before, or one edit that replaces the whole result
  /// (or error) and includes them. If nothing needs to change they are the former edits, and
  /// nothing was parsed.
  std::vector<Replacement> edits;
  std::string_view remark;  ///< for the audit log: what was done to it; empty: nothing
};

class ResultGate {
 public:
  explicit ResultGate(const GateParts& parts)
      : refusal_reports_(parts.policy.refusal_reports),
        server_index_(parts.server_index),
        redaction_(parts.policy.redactions, parts.server_index, parts.server),
        untrusted_(parts.policy.redactions, parts.server_index, parts.server),
        bounding_(parts),
        bounds_results_(parts.bounds_results) {}

  /// `edits`: what is to be done to the line so far. What does not go on is answered with the
  /// failure.
  std::expected<Delivery, Failure> pass(const ServerAnswer& answer, std::vector<Replacement> edits);
  /// What a notification says of a task, when redaction has passed it.
  void pass_task(const BoundableTask& task, std::vector<Replacement>& edits);
  /// What was found in the last answer by redaction, and what was marked in it.
  FoundCounts take_found();

 private:
  void add_path_advice(const ServerAnswer& answer, std::vector<Replacement>& edits) const;

  RefusalReports& refusal_reports_;
  const std::uint32_t server_index_;
  RedactionGate redaction_;
  UntrustedGate untrusted_;
  const ResultBounding bounding_;
  const bool bounds_results_;
};

}  // namespace cellblock::gateway
