#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "policy/access/rights.h"
#include "policy/config.h"
#include "policy/failure.h"
#include "policy/jsonrpc.h"
#include "policy/message_edit.h"
#include "supervisor/gateway/audit/audit_note.h"
#include "supervisor/gateway/conversation/call_table.h"
#include "supervisor/gateway/conversation/early_statuses.h"
#include "supervisor/gateway/conversation/handed_values.h"
#include "supervisor/gateway/conversation/task_progress.h"
#include "supervisor/gateway/conversation/upstream_ids.h"
#include "supervisor/gateway/message/slices.h"
#include "supervisor/gateway/policy/call_access.h"

/// MCP between one host and one cell: validated messages in, edited messages out. Decides what each
/// side may say to the other and keeps their ids and progress tokens apart. Knows no descriptors
/// and nothing of the cell's life.
namespace cellblock::gateway {

enum class AuditState : std::uint8_t { writable, broken };

class ConversationEffects {
 public:
  virtual void to_host(Slices message) = 0;
  virtual void to_cell(Slices message) = 0;
  virtual void record(const AuditNote& note) = 0;
  virtual AuditState audit_state() const = 0;

 protected:
  ~ConversationEffects() = default;
};

struct Traffic {
  std::uint64_t calls = 0;            ///< requests sent to the server
  std::uint64_t late_answers = 0;     ///< to calls that were cancelled
  std::uint64_t foreign_answers = 0;  ///< to calls that never were
  /// Progress and cancellations that name nothing in flight, and what is no notification of MCP.
  std::uint64_t stray_notifications = 0;

  Traffic& operator+=(const Traffic& more) {
    calls += more.calls, late_answers += more.late_answers;
    foreign_answers += more.foreign_answers, stray_notifications += more.stray_notifications;
    return *this;
  }
};

class Conversation {
 public:
  static constexpr std::size_t max_calls = 256;               ///< in flight, host to server
  static constexpr std::size_t max_server_calls = 64;         ///< in flight, server to host
  static constexpr std::size_t max_kept_progress = 1U << 20;  ///< bytes, of all calls

  /// `rights`: what the host's user may do with the server.
  Conversation(const Server& server, const Rights& rights, UpstreamIds& ids, HandedValues values,
               ConversationEffects& effects);

  void from_host(std::string_view line, const Message& message, Time now);
  void from_cell(std::string_view line, const Message& message, Time now);

  /// Every call in flight is answered with this.
  void fail_all(const Failure& failure, Time now);
  /// The one call in flight with this id of ours, in raw JSON; false if there is none.
  bool fail(std::string_view ours, const Failure& failure, Time now);
  /// The call in flight with this id of the host's, in raw JSON, is to be made again elsewhere.
  void forget(std::string_view theirs) { calls_.cancel(theirs); }
  /// Every call in flight is cancelled at the server; nobody waits for the answers.
  void cancel_all(std::string_view reason, Time now);

  /// Calls that wait for an answer. Streams do not: theirs comes when somebody ends them.
  std::size_t in_flight() const { return calls_.awaited(); }
  bool is_idle() const { return calls_.size() == 0; }  ///< no streams either
  /// Whether a call of the host's with this id of the host's, in raw JSON, is in flight.
  bool asks(std::string_view theirs) const { return calls_.find_theirs(theirs) != nullptr; }
  /// Whether a call has this id of ours, in raw JSON, in flight or cancelled, or a task this token.
  bool owns(std::string_view ours) const {
    return calls_.find(ours) != nullptr || calls_.was_cancelled(ours) || task_progress_.has(ours);
  }
  /// Null: there is none with this id of ours. Valid until the next message.
  const Call* call(std::string_view ours) const { return calls_.find(ours); }
  /// Whether it is the host's `initialize`.
  bool is_initialize(std::string_view ours) const {
    const Call* call = calls_.find(ours);
    return call != nullptr && call->kind == CallKind::initialize;
  }
  const Traffic& traffic() const { return traffic_; }

  /// The one way to tell a host that its request failed.
  static std::string failed_reply(std::string_view id, CallKind kind, Era era,
                                  const Failure& failure);

 private:
  void refuse_size_from_host(std::string_view line, const Message& message);
  void request_from_host(std::string_view line, const Message& message, Time now);
  void notification_from_host(std::string_view line, const Message& message, Time now);
  void response_from_host(std::string_view line, const Message& message, Time now);
  void refuse_values(std::string_view line, const Message& message);
  bool refused_access(std::string_view line, const Message& message, CallKind kind,
                      const CallAccess& access);
  bool refused(std::string_view line, const Message& message, CallKind kind);
  void cancel_from_host(std::string_view line, const Message& message, Time now);
  std::vector<Replacement> edits_for_cell(std::string_view line, const Message& message,
                                          const Call& call) const;

  void refuse_size(std::string_view line, const Message& message);
  const std::string* forbidden_input(const Message& message) const;
  void refuse_input(std::string_view line, const std::string& method);
  void request_from_cell(std::string_view line, const Message& message, Time now);
  void notification_from_cell(std::string_view line, const Message& message, Time now);
  const Call* stream_of(std::string_view line, const Message& message) const;
  bool is_early(std::string_view line, const Message& message);
  void tell_early(std::string_view line, const Message& message, Time now);
  void follow_task(std::string_view line, const Message& message, Call call);
  bool edit_answer(std::string_view line, const Message& message, const Call& call, Time now,
                   std::vector<Replacement>& edits);
  void response_from_cell(std::string_view line, const Message& message, Time now);
  void cancel_from_cell(std::string_view line, const Message& message);
  void deliver(std::string_view line, const Message& message, const Call& call, Time now);

  bool is_stray(std::string_view line, const Message& message);
  void progress_from_host(std::string_view line, const Message& message);
  void progress_from_cell(std::string_view line, const Message& message, Time now);
  void keep_progress(ProgressPace& pace, const EditedMessage& edited) const;
  void answer(const Call& call, const Failure& failure, Time now);
  void say_to_host(std::string_view text);
  void say_whole_to_host(std::string_view line);
  void say_to_cell(std::string_view text);
  void note_end(const Call& call, wire::AuditOutcome outcome, std::string_view reason,
                std::size_t bytes, Time now);

  const Server& server_;
  const Rights& rights_;
  const ClientFeatures features_;  ///< what the server may ask of this host
  UpstreamIds& ids_;
  ConversationEffects& effects_;
  CallTable calls_{max_calls};
  CallTable server_calls_{max_server_calls};
  HandedValues values_;
  EarlyStatuses early_;
  TaskProgress task_progress_;
  Traffic traffic_;
};

}  // namespace cellblock::gateway
