#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/message/sealer.h"
#include "supervisor/gateway/upstream/outstanding_tokens.h"
#include "supervisor/gateway/upstream/task_ids.h"
#include "supervisor/gateway/upstream/task_owners.h"
#include "supervisor/os/clock.h"

/// Cursors, request states and task ids of a server: its host gets them sealed, and only what was
/// sealed for this host, server and cell goes back. `null`, which says that there is none, passes.
namespace cellblock::gateway {

class OpaqueTokens {
 public:
  static constexpr std::chrono::hours cursor_life{1};
  static constexpr std::chrono::seconds state_life{600};
  /// So long the next page of a list is expected to be asked for.
  static constexpr std::chrono::seconds page_patience{5};
  static constexpr std::chrono::hours task_life{24};

  /// The purpose in `whose` does not matter.
  OpaqueTokens(Sealer& sealer, SealBinding whose) : sealer_(sealer), whose_(whose) {}

  /// From the host: puts the server's own values back. False: one of them is not ours, or too old,
  /// and the message must not go on.
  bool give_back(std::string_view line, const Message& message, Time now,
                 std::vector<Replacement>& edits);
  /// Whether the host holds the state of a question that its user has still to answer: it means
  /// nothing to another cell.
  bool is_question_open(Time now) const { return questions_.any(now); }
  /// Whether it has been given a part of a list just now, and not asked for the next one.
  bool is_list_open(Time now) const { return lists_.any(now); }

  /// From the server: false: one could not be sealed, or is a task's and over its bound, and the
  /// message must not go on.
  bool hand_out(std::string_view line, const Message& message, Time now,
                std::vector<Replacement>& edits);

  /// Likewise for one id alone.
  bool hand_out_task(std::string_view line, Span where, Time now, std::vector<Replacement>& edits);
  /// Likewise for the result of a list or an introduction, raw JSON of an object.
  bool hand_out_cleaned(std::string& result, Time now);

  /// A call of that tool was answered with this message, which has been handed out. Only the task
  /// that the answer itself is counts, not what it lists or is related to.
  void made_tasks(std::string_view line, const Message& message, std::string_view tool);
  /// Whose call made the task that this is about, a message of the server's; empty: not known, or
  /// several.
  std::string_view tool_behind(std::string_view line, const Message& message) const;
  /// Likewise of the host's, where `edits` have put the server's own values back.
  std::string_view tool_behind(const Message& message, const std::vector<Replacement>& edits) const;

  /// Whether the host has been told of the task with this id, in the server's raw JSON.
  bool knows_task(std::string_view raw) const { return tasks_.knows(raw); }

 private:
  SealBinding binding(SealPurpose purpose) const;
  bool open(SealPurpose purpose, std::string_view line, Span where, Time now,
            std::vector<Replacement>& edits) const;
  bool seal(SealPurpose purpose, std::string_view line, Span where, Time expires,
            std::vector<Replacement>& edits);

  Sealer& sealer_;
  SealBinding whose_;
  TaskIds tasks_;
  TaskOwners claims_;
  OutstandingTokens questions_;
  OutstandingTokens lists_;
};

}  // namespace cellblock::gateway
