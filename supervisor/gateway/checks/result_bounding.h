#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "policy/results/result_items.h"
#include "supervisor/gateway/checks/kept_results.h"
#include "supervisor/gateway/checks/reading_tool.h"
#include "supervisor/gateway/message/calls_in_flight.h"
#include "supervisor/os/clock.h"

namespace cellblock::gateway {

/// One answer that may be too large.
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
  ResultBounding(const Server& server, KeptResults* kept, ReadingTool tool)
      : server_(server), kept_(kept), tool_(tool) {}

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

  const Server& server_;
  KeptResults* const kept_;
  const ReadingTool tool_;
};

}  // namespace cellblock::gateway
