#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "supervisor/gateway/gateway_services.h"
#include "supervisor/gateway/life/server_life.h"
#include "supervisor/kernel/event_loop.h"
#include "supervisor/kernel/sys.h"

/// What stands between a session that needs a cell and the launcher: lets starts through as the
/// lives of their servers have it (server_life.h), keeps those that wait a short while, and refuses
/// the rest. Only of servers: a probe or a survey is asked for by cellblock itself.
namespace cellblock::gateway {

class StartGate {
 public:
  struct Hooks {
    /// `room_until`: of one that has waited for a place: for how long it may.
    std::function<void(CellRunner&, Fd workspace, std::optional<Time> room_until)> start;
    /// Any number: spreads those who failed together.
    std::function<std::uint64_t()> chance;
  };
  StartGate(EventLoop& loop, const Config& config, Hooks hooks);

  void start(CellRunner& cell, Fd workspace);
  /// The launcher has no place for it: it is asked again when a cell has ended, until that time;
  /// then the cell hears `refusal`.
  void wait_for_room(CellRunner& cell, Fd workspace, const wire::CellEvent& refusal, Time until);
  static constexpr Milliseconds room_patience{15'000};  ///< from the first refusal
  /// A cell has ended.
  void room_is_free();
  bool is_anybody_waiting() const { return !waiting_.empty(); }
  /// Nobody wants it any more. If it waits here, it is over; the launcher is another matter.
  void withdraw(const CellRunner& cell);

  void answered(const CellRunner& cell);
  /// It is over, and why is known.
  void ended(const CellRunner& cell, const Failure& failure);
  /// The launcher did not start it, for a reason that is not the server's.
  void refused(const CellRunner& cell);
  void reset(std::uint32_t server);
  /// There may be further servers.
  void add_new(const Config& config);
  /// Nothing waits any more.
  void close();

  const ServerLife& life(std::uint32_t server) const { return lives_[server]; }

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
  /// Whether it is decided.
  bool decide(Waiting& waiting);
  void look_again();
  void look_soon();

  EventLoop& loop_;
  const Hooks hooks_;
  std::vector<ServerLife> lives_;                 ///< by server index
  std::vector<std::optional<Failure>> failures_;  ///< likewise: the last one
  std::vector<Waiting> waiting_;                  ///< bounded by the sessions, oldest first
  Timer due_;
  bool is_scheduled_ = false;
  bool is_closed_ = false;
};

}  // namespace cellblock::gateway
