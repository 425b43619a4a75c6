#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/config.h"
#include "policy/failure.h"
#include "policy/jsonrpc.h"
#include "supervisor/gateway/audit_note.h"
#include "supervisor/gateway/cell_user.h"
#include "supervisor/gateway/conversation.h"
#include "supervisor/gateway/server_cell.h"
#include "supervisor/gateway/upstream_ids.h"

/// One host's way to one server, whichever era it speaks: everything above a leg sees an MCP server
/// of both. Pure.
namespace cellblock::gateway {

class LegEffects {
 public:
  virtual void to_host(Slices message) = 0;
  virtual void record(const AuditPlace& place, const AuditNote& note) = 0;
  virtual AuditState audit_state() const = 0;

  /// A cell to use(), new or shared. It lives until it has let go of its user or the user has left.
  virtual ServerCell& make_cell(const CellPlan& plan) = 0;

  /// Its cell's program runs.
  virtual void leg_running(Time now) = 0;
  /// Its cell did not start or has ended.
  virtual void leg_lost(const Failure& failure, Time now) = 0;
  /// There may be fewer calls in flight than before.
  virtual void leg_answered(Time now) = 0;

 protected:
  ~LegEffects() = default;
};

class Leg final : private CellUser, private ConversationEffects {
 public:
  Leg(const Server& server, CellPlan plan, UpstreamIds& ids, LegEffects& effects);
  Leg(const Leg&) = delete;
  Leg& operator=(const Leg&) = delete;

  void start(Time now);
  void from_host(std::string_view line, const Message& message, Time now);

  /// Everything in flight is answered with this.
  void fail_all(const Failure& failure, Time now);
  /// Everything in flight is cancelled at the server; nobody waits for the answers.
  void cancel_all(std::string_view reason, Time now);
  /// The cell is no longer needed here.
  void leave();

  std::size_t in_flight() const { return conversation_ ? conversation_->in_flight() : 0; }
  const Server& server() const { return server_; }
  const CellPlan& plan() const { return plan_; }
  /// Of the cell, or of the last one; 0: there was none.
  std::uint64_t cell() const { return cell_ != nullptr ? cell_->id() : last_cell_; }
  bool has_cell() const { return cell_ != nullptr; }
  Traffic traffic() const { return conversation_ ? conversation_->traffic() : Traffic{}; }

 private:
  // CellUser
  void cell_running(Time now) override;
  void from_cell(std::string_view line, const Message& message, Time now) override;
  bool answer_lost(std::string_view ours, const Failure& failure, Time now) override;
  void cell_gone(const Failure& failure, Time now) override;
  bool owns(std::string_view ours) const override;

  // ConversationEffects
  void to_host(Slices message) override { effects_.to_host(message); }
  void to_cell(Slices message) override;
  void record(const AuditNote& note) override;
  AuditState audit_state() const override { return effects_.audit_state(); }

  const Server& server_;
  const CellPlan plan_;
  UpstreamIds& ids_;
  LegEffects& effects_;
  ServerCell* cell_ = nullptr;
  std::uint64_t last_cell_ = 0;
  std::optional<Conversation> conversation_;
};

}  // namespace cellblock::gateway
