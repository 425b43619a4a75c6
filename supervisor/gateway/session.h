#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/cell_facts.h"
#include "policy/config.h"
#include "policy/failure.h"
#include "policy/jsonrpc.h"
#include "policy/permission.h"
#include "supervisor/gateway/attachment.h"
#include "supervisor/gateway/cell_failure.h"
#include "supervisor/gateway/cell_lifetime.h"
#include "supervisor/gateway/control_request.h"
#include "supervisor/gateway/conversation.h"
#include "supervisor/gateway/noise_budget.h"

/// One host connection: attach, the conversation with its cell, and every way in which it can end.
/// Pure: lines, launcher events and times in, effects out.
namespace cellblock::gateway {

/// Who is at the other end, as the kernel says.
struct Peer {
  std::uint64_t session = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int32_t pid = 0;  ///< for display only
  std::vector<std::uint32_t> groups;
};

enum class HostEnd : std::uint8_t {
  end_of_input,  ///< it says no more, but may still read
  gone,
};

enum class HostFlow : std::uint8_t { flowing, held };

class SessionEffects : public ConversationEffects {
 public:
  /// A line of cellblock's own, to the socket. With handed stdio that is not where MCP goes.
  virtual void to_control(std::string_view line) = 0;
  /// Takes over what came with the attach request, as far as it is what the offer says. A
  /// workspace is kept until start_cell or the end of this turn.
  virtual DescriptorsTaken take_descriptors(const DescriptorOffer& offer) = 0;
  /// Held: no host line may come in until it flows again.
  virtual void set_host_flow(HostFlow flow) = 0;
  /// No more lines to or from the host; what is queued is still delivered.
  virtual void close_host() = 0;

  virtual void start_cell(std::uint32_t server, wire::CellProgram program) = 0;
  virtual void close_cell_input() = 0;
  virtual void terminate_cell() = 0;
  virtual void kill_cell() = 0;
  /// The launcher and this gateway disagree about a cell.
  virtual void protocol_broken() = 0;

  /// The one deadline; nullopt: none. A new one replaces it.
  virtual void set_deadline(std::optional<Milliseconds> from_now) = 0;

  /// Requests about all of the user's cells: raw JSON for the result.
  virtual std::string answer_control(const ControlRequest& request) = 0;
  virtual std::vector<std::string> stderr_tail(std::uint64_t cell) = 0;
  virtual void remember_end(std::uint32_t server, const Failure& failure) = 0;

 protected:
  ~SessionEffects() = default;
};

class Session {
 public:
  Session(Peer peer, const Config& config, UpstreamIds& ids, MessageScanner& scanner,
          SessionEffects& effects);

  void host_line(std::string_view line, Time now);
  void host_line_too_long(std::size_t seen, Time now);
  void host_ended(HostEnd how, Time now);

  void cell_started(std::uint64_t cell, Time now);
  void cell_refused(wire::StartRefusal refusal, const CellFacts& facts, Time now);
  void cell_running();
  void cell_line(std::string_view line, Time now);
  void cell_line_too_long(std::size_t seen, Time now);
  void cell_output_closed();
  /// `how`: closed_stdin or unread_stdin. May be said more than once.
  void cell_input_broken(GivenUp how);
  /// After everything that it wrote has been handed in.
  void cell_ended(const CellFacts& facts, Time now);

  void deadline(Time now);
  enum class StopReason : std::uint8_t { stopped, shutting_down };
  void stop(StopReason reason, Time now);

  /// Nothing more will happen here.
  bool is_over() const { return state_ == State::closing && cell_.is_over(); }

  const Peer& peer() const { return peer_; }
  const Server* server() const { return server_; }
  const Attachment& attachment() const { return attachment_; }
  std::uint32_t server_index() const { return server_index_; }
  std::uint64_t cell() const { return cell_id_; }
  CellState cell_state() const { return cell_.state(); }
  Time cell_since() const { return cell_since_; }
  Traffic traffic() const { return conversation_ ? conversation_->traffic() : Traffic{}; }
  std::uint64_t noise_lines() const { return noise_.total(); }
  std::uint64_t malformed_lines() const { return malformed_; }

 private:
  enum class State : std::uint8_t {
    unattached,
    attaching,  ///< waits for the launcher; the host is held
    attached,
    finishing,  ///< the host's input has ended, calls are in flight
    failed,     ///< there is no cell; whoever asks hears why
    closing,    ///< the host's side is closed; the cell may still be draining
  };

  void malformed(std::string_view line, const Refused& refused);
  void message_from_host(std::string_view line, const Message& message, Time now);
  void mcp_from_host(std::string_view line, const Message& message, Time now);

  void control(std::string_view line, const Message& message, Time now);
  void attach(std::string_view id, const ControlRequest& request, Time now);
  Identified who() const { return {peer_.uid, peer_.gid, peer_.groups}; }
  std::optional<Failure> refuse_to_attach(const std::string& name) const;
  void attach_failed(const Failure& failure, Time now);

  void refused_from_cell(std::string_view line, const Refused& refused, Time now);
  void fail_answer(std::string_view line, const Refused& refused, Time now);
  void leave_if_answered(Time now);
  /// Its program runs, and it has not been asked to end.
  bool cell_is_in_use() const;
  void act(CellAction action);
  void fault(GivenUp cause);
  EndedCell end_of_cell(const CellFacts& facts, Time now) const;
  void cell_is_gone(const EndedCell& ended, Failure failure, Time now);
  void fail_session(Failure failure, Time now);
  void answer_with_failure(std::string_view line, const Message& message);
  void leave(std::string_view reason, std::string_view cancel_reason, Time now);
  void close(std::string_view reason, const Failure* failure);
  void reply_to_host(std::string_view text);
  void note(wire::AuditKind kind, wire::AuditOutcome outcome, std::string_view reason);

  const Peer peer_;
  const Config& config_;
  UpstreamIds& ids_;
  MessageScanner& scanner_;
  SessionEffects& effects_;

  State state_ = State::unattached;
  Attachment attachment_;

  const Server* server_ = nullptr;
  std::uint32_t server_index_ = 0;
  CellLifetime cell_;
  std::uint64_t cell_id_ = 0;
  Time cell_since_;
  GivenUp cause_ = GivenUp::no;  ///< the first one wins
  bool output_closed_ = false;
  bool host_has_asked_ = false;
  bool has_answered_ = false;
  std::optional<Conversation> conversation_;
  std::optional<Failure> failure_;
  NoiseBudget noise_;
  std::uint64_t malformed_ = 0;
};

}  // namespace cellblock::gateway
