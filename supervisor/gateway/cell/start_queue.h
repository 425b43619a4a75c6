#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "supervisor/gateway/cell/gateway_services.h"
#include "supervisor/gateway/cell/restart_policy.h"
#include "supervisor/os/event_loop.h"
#include "supervisor/os/sys.h"

/// What stands between a session that needs a cell and the launcher: lets starts through as the
/// lives of their servers have it (restart_policy.h), keeps those that wait a short while, and
/// refuses the rest. Only of servers: a probe or a survey is asked for by cellblock itself.
namespace cellblock::gateway {

class StartQueue {
 public:
  struct Hooks {
    /// `room_until`: of one that has waited for a place: for how long it may.
    std::function<void(CellRunner&, Fd workspace, std::optional<Time> room_until)> start;
    /// Any number: spreads those who failed together.
    std::function<std::uint64_t()> chance;
    /// The launcher may be asked now: it has not too many questions to answer already.
    std::function<bool()> may_ask;
    /// The cell waits for a place behind `claims` others: a cell that no session needs may give
    /// way.
    std::function<void(CellRunner&, wire::StartRefusal refusal, std::size_t claims)> make_room;
  };
  StartQueue(EventLoop& loop, const Config& config, Hooks hooks);

  void start(CellRunner& cell, Fd workspace);
  /// The launcher has no place for the cell. It is asked again when a place becomes free that no
  /// earlier waiter claims, until `until`; then the cell gets `refusal`.
  void wait_for_room(CellRunner& cell, Fd workspace, const wire::CellEvent& refusal, Time until);
  static constexpr Milliseconds room_patience{15'000};  ///< from the first refusal
  /// So often it is looked whether a cell that was needed is not any more.
  static constexpr Milliseconds room_look{250};
  /// A cell of that server has ended. One place is for one start: were all that wait let go, the
  /// launcher would have to refuse the others faster than they can be told.
  void room_is_free(std::uint32_t server);
  /// How many wait for a place that would do for such a start, which may wait until then, as well,
  /// and come before it.
  std::size_t claims_before(std::uint32_t server, wire::StartRefusal refusal, Time until) const;
  /// The launcher has answered a question.
  void launcher_answered() { look_soon(); }
  bool is_anybody_waiting() const { return !waiting_.empty(); }
  /// The cell is no longer wanted. If it still waits here, it is over. Otherwise the launcher
  /// decides.
  void withdraw(const CellRunner& cell);

  void answered(const CellRunner& cell);
  /// The cell ended for a known cause.
  void ended(const CellRunner& cell, const Failure& failure);
  /// The launcher did not start it, for a reason that is not the server's.
  void refused(const CellRunner& cell);
  void reset(std::uint32_t server);
  /// There may be further servers.
  void add_new(const Config& config);
  /// Nothing waits any more.
  void close();

  const RestartPolicy& life(std::uint32_t server) const { return lives_[server]; }

 private:
  struct Waiting {
    CellRunner* cell = nullptr;
    Fd workspace;
    Time give_up;
    std::optional<Time> room_until{};
    std::optional<wire::CellEvent> no_room{};  ///< what the launcher said
  };

  void refuse(CellRunner& cell);
  bool decide_on_room(const Waiting& waiting);
  std::optional<std::uint32_t> take_place(const Waiting& waiting);
  /// Whether it is decided.
  bool decide(Waiting& waiting);
  void look_again();
  void make_room();
  void look_soon();

  EventLoop& loop_;
  const Hooks hooks_;
  std::vector<RestartPolicy> lives_;              ///< by server index
  std::vector<std::optional<Failure>> failures_;  ///< likewise: the last one
  std::vector<Waiting> waiting_;                  ///< bounded by the sessions, oldest first
  std::vector<std::uint32_t> free_;               ///< places, by the server whose cells they were
  Timer due_;
  bool is_scheduled_ = false;
  bool is_closed_ = false;
};

}  // namespace cellblock::gateway
