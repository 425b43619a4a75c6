#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/gateway/cell/cell_lifetime.h"
#include "supervisor/gateway/cell/gateway_services.h"
#include "supervisor/gateway/cell/server_cell.h"
#include "supervisor/gateway/cell/stderr_log.h"
#include "supervisor/gateway/io/endpoint.h"
#include "supervisor/gateway/io/line_reader.h"
#include "supervisor/gateway/io/line_writer.h"
#include "supervisor/gateway/records/audit_record.h"

/// One cell with its pipes and its timer: carries out what the machine (server_cell.h) decides. The
/// cell belongs to a session, to the survey of a catalogue, or to the gateway if several sessions
/// share it.
namespace cellblock::gateway {

/// The pipes of one cell.
struct CellPipes {
  static constexpr std::size_t count = 3;

  Fd input;   ///< we write
  Fd output;  ///< we read
  Fd errors;  ///< we read
};

/// Lines to and from those pipes.
class CellLink {
 public:
  struct Receiver {
    std::function<void(std::string_view line)> line;
    std::function<void(std::size_t seen)> too_long;
    std::function<void()> output_closed;
    std::function<void()> turn_done;
    StderrCollector::Clean clean;  ///< of what it writes on stderr
  };

  /// Output is not read before begin_output(): the output of an unused cell must cost nothing.
  CellLink(EventLoop& loop, CellPipes pipes, const Server& server, std::uint64_t cell,
           StderrRing& ring, Receiver receiver);

  void begin_output();
  void to_cell(std::span<const std::string_view> slices);
  void close_input();
  void flush() { writer_.flush(); }
  /// Half of the bound is for one more line on top, the rest for what the gateway itself says.
  bool has_room(std::size_t bytes) const { return queued() + bytes <= room_; }
  std::size_t queued() const { return writer_.queued(); }
  /// Whether it can still be told anything. Its input being closed by us is no fault of its.
  WriterState input_state() const { return closing_input_ ? WriterState::open : writer_.state(); }

  /// The part of the server's output behind the last newline.
  std::string_view unfinished() const { return reader_.unread().value_or(std::string_view{}); }

  /// No process can write to the output pipe any more. Unread bytes may be left in it.
  bool has_hung_up() const;

  void set_paused(bool paused);  ///< the host does not take what this cell sends

  /// The cell's processes have ended: passes on what is left in the pipe. False while the host does
  /// not take it; the caller then calls again.
  bool drain_output();
  void drain_errors();

 private:
  bool read_errors();
  void apply_flow();

  Receiver receiver_;
  Endpoint input_;
  Endpoint output_;
  Endpoint errors_;
  LineWriter writer_;
  LineReader reader_;
  const std::size_t room_;
  StderrCollector collector_;
  bool begun_ = false;
  bool paused_ = false;
  bool closing_input_ = false;
};

/// Keeps a cell, and settles after it.
class CellKeeper {
 public:
  /// The cell did something in this turn: settle() it, and whomever it did it to.
  virtual void cell_turn_done() = 0;

 protected:
  ~CellKeeper() = default;
};

/// The owner of a cell in the audit log and in status. `session` 0: none.
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

  // Events from the launcher.
  void started(std::uint64_t cell, std::vector<Fd> pipes);
  void refused(const wire::CellEvent& event);
  /// The gateway refused the start itself, without asking the launcher.
  void withheld(const Failure& failure);
  void running();
  void ended(const CellFacts& facts);

  /// Writes what waits for it, hands in its last words, and notices a server that does not read.
  void settle();
  std::size_t queued() const { return link_ ? link_->queued() : 0; }
  /// Stops the cell as an idle one is stopped.
  void give_way();
  /// The hosts do not take the server's output.
  void set_paused(bool paused);

  ServerCell& cell() { return cell_; }
  const ServerCell& cell() const { return cell_; }
  const CellOwner& owner() const { return owner_; }
  /// When the cell started, or when a message was last sent to it.
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
