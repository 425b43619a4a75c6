#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/printable.h"
#include "policy/config/config.h"
#include "policy/failures/end_verdict.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/mcp/foreign_framing.h"
#include "supervisor/gateway/cell/cell_health.h"
#include "supervisor/gateway/cell/cell_lifetime.h"
#include "supervisor/gateway/cell/cell_user.h"
#include "supervisor/gateway/cell/client_multiplexer.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/gateway/message/written_message.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/clock.h"

/// One cell from the request to start it until its processes have ended, with its users. Validates
/// what it writes and passes it on. It knows no MCP methods and no hosts; client_multiplexer.h
/// serves cells with several users. Pure: lines, launcher events and times in, effects out.
namespace cellblock::gateway {

/// Lines on a server's stdout that are no JSON-RPC. None is ever forwarded. A server that writes
/// nothing else is not an MCP server, and its first line is kept for the administrator.
class InvalidOutputBudget {
 public:
  static constexpr std::uint32_t max_lines = 64;
  static constexpr std::size_t max_bytes = 64U << 10;

  /// True when the server has used up its budget.
  [[nodiscard]] bool spend(std::string_view line) {
    if (total_ == 0) first_ = printable(line.substr(0, 200));
    ++total_;
    ++lines_;
    bytes_ += line.size();
    return lines_ > max_lines || bytes_ > max_bytes;
  }

  /// A valid message shows that the program speaks MCP.
  void renew() { lines_ = 0, bytes_ = 0; }

  std::uint64_t total() const { return total_; }
  const std::string& first() const { return first_; }  ///< escaped

 private:
  std::uint32_t lines_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t total_ = 0;
  std::string first_;
};

/// `ended.given_up` holds the first cause that the gateway saw. If the cell turns out to have ended
/// by itself, that end is the cause: a process closes its pipes before its exit status is known, so
/// a closed stdout or stdin was only the first sign.
EndedCell with_true_cause(EndedCell ended);

Failure failure_of_end(const std::string& server, const EndedCell& ended);

/// The launcher did not start it; `facts` say where a step of the set-up failed.
Failure failure_of_refusal(const std::string& server, wire::StartRefusal refusal,
                           const EndedCell& ended);

struct CellPlan {
  std::uint32_t server = 0;  ///< index
  wire::CellProgram program = wire::CellProgram::server;
  bool has_workspace = false;
  std::string_view purpose;  ///< for the audit log; static text, empty: a plain session
};

/// The purpose of a cell that takes a session on whose last one has ended.
inline constexpr std::string_view revival_purpose = "revival";

/// Several sessions of one user use it. Probes and surveys have a cell to themselves.
bool is_shared(const Server& server, const CellPlan& plan);

/// What one cell wants done; the adaptor knows which cell that is.
class CellEffects : public ClientMultiplexerEffects {
 public:
  virtual void start_cell() = 0;      ///< asks the launcher, when the server may start
  virtual void withdraw_start() = 0;  ///< unless the launcher has been asked
  virtual void handshake_answered() = 0;
  virtual void close_cell_input() = 0;
  virtual void terminate_cell() = 0;
  virtual void kill_cell() = 0;
  /// The launcher and this gateway disagree about the cell.
  virtual void protocol_broken() = 0;
  /// The one deadline of the cell; nullopt: none. A new one replaces it.
  virtual void set_deadline(std::optional<Milliseconds> from_now) = 0;

  virtual std::vector<std::string> stderr_tail() = 0;
  /// The most frequent of what it was refused since then; nullopt: nothing.
  virtual std::optional<RefusedNetwork> refused_network(Time since) = 0;
  virtual void remember_end(const Failure& failure) = 0;

 protected:
  ~CellEffects() = default;
};

class ServerCell {
 public:
  /// `server` and `scanner` outlive it.
  ServerCell(const Server& server, CellPlan plan, MessageScanner& scanner, CellEffects& effects);

  // Called by users. A user must leave before it is destroyed, unless cell_gone() came.
  /// The first one asks for the cell. Who comes later, or to a spare one, hears at once if its
  /// program runs.
  void use(CellUser& user, Time now);
  /// The last one to leave stops it, unless it is shared. Others do nothing.
  void leave(CellUser& user);
  /// To a cell that has no other user.
  void say(Slices message) { effects_.to_cell(message); }
  void say(CellUser& user, Slices message);
  /// To what the server asked of a program: it could ask without end, and that is no use of the
  /// cell.
  void reply(CellUser& user, Slices message);
  /// In which era it is spoken to: where it is shared, what its users said first decides.
  Era agree_on(Era wanted) {
    era_ = shared_ ? shared_->agree_on(wanted) : wanted;
    return *era_;
  }
  /// A request goes to it. The clock of the handshake starts with the first: a host that takes its
  /// time does not make its server late.
  void asked();

  // Called by the launcher's channel and the pipes.
  void started(std::uint64_t cell, Time now);
  void refused(wire::StartRefusal refusal, const CellFacts& facts, Time now);
  /// The server may not start now, and the launcher was not asked.
  void withheld(const Failure& failure, Time now);
  void running(Time now);
  void line(std::string_view line, Time now);
  void line_too_long(std::size_t seen, Time now);
  /// Whether unfinished() has to be said at the end of a turn.
  bool awaits_body() const { return !has_answered_ && framing_.awaits_body(); }
  /// What it wrote behind its last newline.
  void unfinished(std::string_view bytes) { check_framing(framing_.unfinished(bytes)); }
  void output_closed();
  /// How long one that closed its input or its output has to end, so that the cause is known.
  static constexpr Milliseconds exit_patience{1'000};
  /// `how`: closed_stdin or unread_stdin. May be said more than once.
  void input_broken(GivenUp how);
  /// After everything that it wrote has been handed in.
  void ended(const CellFacts& facts, Time now);
  void deadline(Time now);
  /// The server's output is not read at the moment.
  void set_paused(bool paused, Time now) { health_.set_paused(paused, now); }

  // Called by the keeper of spare cells.
  /// Asks for the cell before a session uses it. The server's output stays in its pipe.
  void start_spare(Time now);
  bool is_spare() const { return is_spare_; }
  /// To what end the first user has it: before use().
  void give_to(const CellPlan& plan) { plan_ = plan; }

  // Called by the eviction, which looks for a place.
  /// No session would miss the cell.
  bool may_give_way(Time now) const;
  /// The cell has just been used and is about to be used again (CellUser).
  bool is_amid_list(Time now) const;
  /// A cell that is not running yet and that a call waits for.
  bool is_awaited(Time now) const;
  void give_way(Time now) { stop_unneeded(GivenUp::evicted, now); }
  /// How much its users have said to it.
  std::uint64_t said() const { return said_; }

  // Called by the keeper of shared cells.
  /// Hands out what is answered without the server.
  void tell(Time now);
  void stop();
  bool has_users() const { return !users_.empty(); }
  /// Each once.
  std::set<std::uint64_t> sessions() const;
  /// Whether new users may join: the cell is neither ending nor has it refused its handshake.
  bool takes_users() const {
    return may_go_on() && !closed_ && !is_retired_ && !(shared_ && shared_->is_spent());
  }
  /// Present users stay; no new ones may join.
  void retire() { is_retired_ = true; }

  const Server& server() const { return server_; }
  const CellPlan& plan() const { return plan_; }
  std::uint64_t id() const { return id_; }  ///< 0: the launcher has not answered
  CellState state() const { return life_.state(); }
  Time since() const { return since_; }
  std::uint64_t noise_lines() const { return invalid_output_.total(); }
  /// The end of the cell, if it ended now.
  EndedCell so_far(Time now) const { return end({}, now); }
  /// What would let it reach what it was refused of the network since then; empty: it was refused
  /// nothing, or nothing allows it.
  std::string network_advice(Time since) const;
  /// Answers to calls of no present user.
  std::uint64_t foreign_answers() const { return shared_ ? shared_->foreign_answers() : 0; }
  bool is_over() const { return life_.is_over(); }

 private:
  void refused_line(std::string_view line, const Refused& refused, Time now);
  void check_framing(FramingDetector::Found found);
  void lose_answer(std::string_view line, const Refused& refused, Time now);
  bool lose_answers(std::string_view own_id, const Failure& failure, Time now);
  /// What one user hears may make others leave.
  template <typename Tell>
  void tell_users(Tell tell) {
    for (CellUser* user : std::vector(users_)) {
      if (std::ranges::find(users_, user) != users_.end()) tell(*user);
    }
  }
  /// The program runs, and the cell has not been asked to end.
  bool is_running() const;
  /// The cell was asked for, and has not been asked to end.
  bool may_go_on() const;
  bool is_watched() const;
  bool is_busy(Time now) const;
  void watch(Time now);
  void ask_for_a_sign();
  void stop_unneeded(GivenUp why, Time now);
  void start(Time now);
  void act(CellAction action);
  void fault(GivenUp cause);
  void closed(GivenUp which);
  EndedCell end(const CellFacts& facts, Time now) const;
  void buried(const EndedCell& ended, const Failure& failure, Time now);
  void tell_gone(const Failure& failure, Time now);
  void note(wire::AuditKind kind, wire::AuditOutcome outcome, std::string_view reason);

  const Server& server_;
  CellPlan plan_;
  MessageScanner& scanner_;
  CellEffects& effects_;
  std::vector<CellUser*> users_;  ///< one, unless it is shared
  std::optional<ClientMultiplexer> shared_;

  CellLifetime life_;
  CellHealth health_;
  std::optional<Era> era_;   ///< it is spoken to in
  std::uint64_t signs_ = 0;  ///< asked for
  std::uint64_t id_ = 0;
  Time since_;
  GivenUp cause_ = GivenUp::no;  ///< the first one wins
  bool output_closed_ = false;
  std::optional<GivenUp> closed_;  ///< it should be about to end
  bool is_retired_ = false;
  bool is_spare_ = false;
  std::uint64_t said_ = 0;
  bool was_asked_ = false;
  bool has_answered_ = false;
  InvalidOutputBudget invalid_output_;
  FramingDetector framing_;
  std::optional<ForeignFraming> foreign_framing_;
};

}  // namespace cellblock::gateway
