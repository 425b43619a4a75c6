#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/gateway/cell/cell_link.h"
#include "supervisor/gateway/cell/cell_row.h"
#include "supervisor/gateway/cell/gateway_services.h"
#include "supervisor/gateway/cell/server_cell.h"
#include "supervisor/gateway/cell/stderr_log.h"
#include "supervisor/gateway/records/audit_record.h"

/// One cell with its pipes and its timer: carries out what the machine (server_cell.h) decides. Of
/// a session, of the survey of a catalogue, or of the gateway where several sessions share it.
namespace cellblock::gateway {

/// Who keeps a cell, and settles after it.
class CellKeeper {
 public:
  /// The cell did something in this turn: settle() it, and whomever it did it to.
  virtual void cell_turn_done() = 0;

 protected:
  ~CellKeeper() = default;
};

/// For whom it runs, as the audit log and status say it; no session: 0.
struct CellOwner {
  std::int32_t pid = 0;
  std::uint64_t session = 0;
};

class CellRunner final : private CellEffects {
 public:
  /// `workspace` may be not valid: none. `plan.server` is an index of the configuration. To be
  /// destroyed only when is_over(), and not within one of its own callbacks.
  CellRunner(GatewayServices& services, CellPlan plan, CellOwner owner, Fd workspace,
             CellKeeper& keeper);
  /// A spare cell is to be another one's, who uses it at once.
  void give_to(const CellPlan& plan, CellOwner owner, CellKeeper& keeper);

  // From the launcher.
  void started(std::uint64_t cell, std::vector<Fd> pipes);
  void refused(const wire::CellEvent& event);
  /// By the gateway itself: the launcher was not asked.
  void withheld(const Failure& failure);
  void running();
  void ended(const CellFacts& facts);

  /// Writes what waits for it, hands in its last words, and notices a server that does not read.
  void settle();
  std::size_t queued() const { return link_ ? link_->queued() : 0; }
  /// It ends as one that is idle does.
  void give_way();
  /// Those it speaks to do not take what it sends.
  void set_paused(bool paused);

  ServerCell& cell() { return cell_; }
  const ServerCell& cell() const { return cell_; }
  const CellOwner& owner() const { return owner_; }
  /// When it started, or somebody said something to it.
  Time last_used() const { return std::max(last_used_, cell_.since()); }
  AuditOrigin origin() const;
  bool is_over() const { return cell_.is_over() && !facts_; }
  /// The launcher has said so; what its pipes still hold has not been looked at.
  bool has_ended() const { return facts_.has_value(); }
  /// That, or its processes are gone and the launcher has not said so yet.
  bool is_ending() const { return has_ended() || (link_ && link_->has_hung_up()); }
  /// What the cell itself knows; traffic is its users'.
  CellRow row(Time now) const;

 private:
  // CellEffects
  void start_cell() override;
  void withdraw_start() override { services_.withdraw_start(*this); }
  void handshake_answered() override { services_.handshake_answered(*this); }
  void to_cell(Slices message) override;
  bool has_room(std::size_t bytes) const override { return link_ && link_->has_room(bytes); }
  void close_cell_input() override;
  void terminate_cell() override { services_.terminate_cell(cell_.id()); }
  void kill_cell() override { services_.kill_cell(cell_.id()); }
  void protocol_broken() override { services_.give_up("the launcher's events make no sense"); }
  void set_deadline(std::optional<Milliseconds> from_now) override;
  void record(const AuditNote& note) override { services_.record(audit_record(origin(), note)); }
  std::vector<std::string> stderr_tail() override;
  std::optional<RefusedNetwork> refused_network(Time since) override;
  void remember_end(const Failure& failure) override;
  void keep_log(std::string_view text) override;
  void settle_soon() override { keeper_->cell_turn_done(); }

  Time now() const { return services_.loop().now(); }
  CellLink::Receiver receiver();
  std::string cleaned(std::string_view text) const;
  void finish();
  void check_input();

  GatewayServices& services_;
  CellOwner owner_;
  CellKeeper* keeper_;
  Fd workspace_;
  ServerCell cell_;
  std::unique_ptr<CellLink> link_;
  Timer deadline_;
  std::optional<CellFacts> facts_;  ///< it has ended, its last words are being read
  bool overflow_logged_ = false;
  std::uint64_t said_ = 0;  ///< until the last turn
  Time last_used_;
  std::optional<StderrCollector> logs_;  ///< messages of a shared cell that are no session's
};

}  // namespace cellblock::gateway
