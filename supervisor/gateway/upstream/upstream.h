#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/access/rights.h"
#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/checks/call_access.h"
#include "supervisor/gateway/checks/flow_gate.h"
#include "supervisor/gateway/checks/redaction_gate.h"
#include "supervisor/gateway/checks/request_gate.h"
#include "supervisor/gateway/checks/result_gate.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/gateway/message/calls_in_flight.h"
#include "supervisor/gateway/message/listening.h"
#include "supervisor/gateway/message/traffic.h"
#include "supervisor/gateway/message/written_message.h"
#include "supervisor/gateway/upstream/opaque_tokens.h"
#include "supervisor/gateway/upstream/open_tasks.h"

/// MCP between one host and one cell: validated messages in, edited messages out. Decides what each
/// side may say to the other and keeps their ids and progress tokens apart. Knows no descriptors
/// and nothing of the cell's life.
namespace cellblock::gateway {

class UpstreamEffects {
 public:
  virtual void to_host(Slices message) = 0;
  virtual void to_cell(Slices message) = 0;
  /// As to_cell(), for an answer that does not count as use of the cell: the server asked, and a
  /// program answers.
  virtual void reply_to_cell(Slices message) { to_cell(message); }
  virtual void record(const AuditNote& note) = 0;
  virtual AuditState audit_state() const = 0;
  /// `then` is called once, when all records so far are in the log or cannot be written. It may be
  /// called at once. It is not called when no caller waits any more.
  virtual void when_recorded(WhenRecorded then) = 0;
  /// woken() is to be called then. Replaces what was asked for before.
  virtual void wake_in(Milliseconds from_now) = 0;
  /// What would let the server reach what it was refused of the network since then; empty: nothing
  /// was refused.
  virtual std::string network_advice(Time /*since*/) const { return {}; }

 protected:
  ~UpstreamEffects() = default;
};

class Upstream final : private CallWaiter, private ApprovalWaiter {
 public:
  static constexpr std::size_t max_calls = 256;               ///< in flight, host to server
  static constexpr std::size_t max_server_calls = 64;         ///< in flight, server to host
  static constexpr std::size_t max_kept_progress = 1U << 20;  ///< bytes, of all calls

  /// `rights`: what the host's user may do with the server.
  Upstream(const GateParts& parts, const Rights& rights, UpstreamIds& ids, OpaqueTokens values,
           AuditArguments arguments, UpstreamEffects& effects);

  void from_host(std::string_view line, const Message& message, Time now);
  void from_cell(std::string_view line, const Message& message, Time now);
  /// The time that effects.wake_in() asked for has come. Early or late calls do no harm.
  void woken(Time now);

  /// Every call in flight is answered with this.
  void fail_all(const Failure& failure, Time now);
  /// The one call in flight with this id of ours, in raw JSON; false if there is none.
  bool fail(std::string_view own_id, const Failure& failure, Time now);
  /// The call in flight with this id of the host's, in raw JSON, is to be made again elsewhere.
  void forget(std::string_view caller_id, std::string_view reason, Time now);
  /// Every call in flight is cancelled at the server; no answer is sent.
  void cancel_all(std::string_view reason, Time now);

  /// Calls that wait for an answer. Streams do not count: they are answered when a peer ends them.
  std::size_t in_flight() const { return calls_.awaited(); }
  bool is_idle() const { return calls_.size() == 0; }  ///< no streams either
  /// No party waits: neither side, nor an asked user. Streams do not count, nor do server requests
  /// that a server could repeat without end unnoticed.
  bool is_at_rest(Time now) const;
  /// The host has a part of a list, and is likely to ask for the next one.
  bool is_amid_list(Time now) const { return values_.is_list_open(now); }
  /// What the host wants to hear of by itself, on streams.
  Listening listening() const;
  /// Whether a call of the host's with this id of the host's, in raw JSON, is in flight.
  bool asks(std::string_view caller_id) const {
    return calls_.find_by_caller_id(caller_id) != nullptr;
  }
  /// Whether a call has this id of ours, in raw JSON, in flight or cancelled, or a task this token.
  bool owns(std::string_view own_id) const {
    return calls_.find(own_id) != nullptr || calls_.was_cancelled(own_id) ||
           task_progress_.has(own_id);
  }
  /// Whether there is one with this id of the host's, in raw JSON, that the server was not sent.
  bool is_unsent(std::string_view caller_id) const {
    const Call* call = calls_.find_by_caller_id(caller_id);
    return call != nullptr && !call->is_sent;
  }
  /// Null: there is none with this id of ours. Valid until the next message.
  const Call* call(std::string_view own_id) const { return calls_.find(own_id); }
  /// Whether it is the host's `initialize`.
  bool is_initialize(std::string_view own_id) const {
    const Call* call = calls_.find(own_id);
    return call != nullptr && call->kind == CallKind::initialize;
  }
  /// The streams, by our id, on which the host wants to hear of changes of that list.
  std::vector<std::uint64_t> streams_about(mcp::ListKind kind) const;
  /// On one that the server has acknowledged so.
  bool hears(mcp::ListKind kind) const;
  const Traffic& traffic() const { return traffic_; }
  PinGate& pins() { return pins_; }

 private:
  /// What the server may ask of this host.
  ClientFeatures features() const;
  void refuse_size_from_host(std::string_view line, const Message& message);
  void request_from_host(std::string_view line, const Message& message, Time now);
  bool redact(Direction direction, std::string_view line, const Message& message,
              std::vector<Replacement>& edits);
  void note_found(const FoundCounts& found, std::string_view tool, std::uint64_t call,
                  wire::AuditOutcome outcome);
  UnsentCall unsent_call(std::string_view line, const Message& message, const CallAccess& access,
                         const Call& call);
  void note_arguments(std::string_view line, const Message& message, UnsentCall& unsent);
  void refuse_at_gate(std::string_view line, const Message& message, CallKind kind,
                      const Failure& failure);
  void note_acknowledged(std::string_view line, const Message& message);
  void notification_from_host(std::string_view line, const Message& message, Time now);
  void response_from_host(std::string_view line, const Message& message, Time now);
  void refuse_values(std::string_view line, const Message& message);
  bool refused_access(std::string_view line, const Message& message, const CallAccess& access);
  CallAccess access_for(std::string_view line, const Message& message);
  void record_flow(const CallAccess& access);
  void note_flow(const Call& call, std::string_view name);
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
  void send_early(std::string_view line, const Message& message, Time now);
  void follow_task(std::string_view line, const Message& message, Call call, Time now);
  bool edit_answer(std::string_view line, const Message& message, const Call& call, Time now,
                   std::vector<Replacement>& edits);
  void response_from_cell(std::string_view line, const Message& message, Time now);
  void cancel_from_cell(std::string_view line, const Message& message);
  std::vector<Replacement> cancel_edits(Direction direction, std::string_view line,
                                        const Message& message, std::string id);
  void send_held(const TaskStatusBuffer::Held& held, Time now);
  void bound_task(std::string_view line, const Message& message, Time now,
                  std::vector<Replacement>& edits);
  void deliver(std::string_view line, const Message& message, const Call& call, Time now);

  bool is_stray(Direction direction, std::string_view line, const Message& message);
  std::string said_method(const std::string& method);
  void progress_from_host(std::string_view line, const Message& message);
  void progress_from_cell(std::string_view line, const Message& message, Time now);
  void keep_progress(ProgressLimiter& pace, const EditedMessage& edited) const;

  std::expected<Approval, Failure> approval_for(const CallAccess& access, const Message& message,
                                                const EditedMessage& edited, Time now);
  void approval_decided() override { place_is_free(); }
  void ask_user(Call& call, Time now);
  void notify_waiting(Call& call, Time now);
  void answer_from_user(std::string_view line, const Message& message, std::uint64_t about,
                        Time now);
  bool may_still_go(const Call& call, Time now);
  bool is_what_was_shown(const Call& call) const;
  bool is_approved(Call& call, Time now);
  void withdraw_question(const Call& call, std::string_view reason);

  void place_is_free() override;
  void begin(Call call, UnsentCall unsent, const EditedMessage& edited, Time now);
  void go_on(Call& call);
  void send_when_recorded(std::uint64_t own_id, std::string text);
  void send_recorded(std::uint64_t own_id, std::string_view text, AuditState log, Time now);
  void look_at(Call& call, Time now);
  void give_up(const Call& call, const Failure& failure, Time now);
  CallClock clock() const;
  void watch_clock(Time now);
  void wake_for(const Call& call, Time now);
  void wake_for_all(Time now);
  void answer(const Call& call, const Failure& failure, Time now);
  void reply_to_host(std::string_view text);
  void send_line_to_host(std::string_view line);
  void reply_to_cell(std::string_view text);
  void note_end(const Call& call, wire::AuditOutcome outcome, std::string_view reason,
                std::size_t bytes, Time now);

  const Server& server_;
  const Rights& rights_;
  UpstreamIds& ids_;
  UpstreamEffects& effects_;
  const AuditArguments arguments_;
  PinGate pins_;
  FlowGate flows_;
  RequestGate gate_;
  ResultGate result_gate_;
  RedactionGate redaction_;          ///< of what passes neither of them
  bool host_elicits_ = false;        ///< it has said that it can ask its user
  std::optional<Time> wakes_;        ///< before calls_, whose end may free places
  std::optional<Time> stood_since_;  ///< while the server waits for an answer of the host's
  /// Expires with the upstream: callbacks of the audit log check it first.
  std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
  CallTable calls_{max_calls};
  CallTable server_calls_{max_server_calls};
  OpaqueTokens values_;
  TaskStatusBuffer early_;
  TaskProgress task_progress_;
  OpenTasks open_tasks_;
  Traffic traffic_;
};

}  // namespace cellblock::gateway
