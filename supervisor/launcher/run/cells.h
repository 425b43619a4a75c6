#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "supervisor/launcher/run/cell_end.h"
#include "supervisor/launcher/run/denials.h"
#include "supervisor/launcher/run/event_loop.h"
#include "supervisor/launcher/run/spawn.h"

namespace cellblock::launcher {

/// The cells that exist: watches each from its start until all its processes are gone. One thread.
class Cells {
 public:
  struct Listener {
    std::function<void()> running;                ///< exec succeeded
    std::function<void(const CellFacts&)> ended;  ///< once, last; nothing of the cell is left
    /// Refused calls that were alike. False: not now; it is offered again, but for the last time
    /// just before `ended`. Not set: they are not reported.
    std::function<bool(const wire::Denial&)> denied = nullptr;
  };

  explicit Cells(EventLoop& loop) : loop_(loop), denials_(loop) {}

  /// Returns the cell's number: never 0, never used twice.
  SysResult<std::uint64_t> add(SpawnedCell spawned, Listener listener);

  void terminate(std::uint64_t cell);    ///< SIGTERM to the server process
  void expect_end(std::uint64_t cell);   ///< it is ending by itself; killed if it does not, in 1 s
  void kill_server(std::uint64_t cell);  ///< so that its own end is still told; all go with it
  void kill(std::uint64_t cell);         ///< everything in it, at once
  /// Likewise, since its egress helper ended in this way.
  void kill_without_egress(std::uint64_t cell, const CellFacts& helper);
  void kill_all();
  GroupUsageNow usage_now(std::uint64_t cell) const;
  bool empty() const { return cells_.empty(); }

 private:
  struct Cell {
    SpawnedCell spawned;
    Fd deadline;                    ///< a timer: by then the cell must have ended
    std::chrono::seconds pause{1};  ///< until it is killed, and then until it is killed again
    Listener listener;
    CellEnd end;
  };

  static siginfo_t reap(const Cell& cell);
  void signal(std::uint64_t number, int signal);
  void deadline_is_over(std::uint64_t number);
  void read_report(std::uint64_t number);
  void take_report(std::uint64_t number, Cell& cell);
  void watch_filter(std::uint64_t number, Cell& cell, Fd notifications);
  void killed_by_filter(std::uint64_t number, std::uint32_t arch, std::int32_t call);
  void finish(std::uint64_t number);
  void forget(Cell& cell);

  EventLoop& loop_;
  Denials denials_;
  std::map<std::uint64_t, std::unique_ptr<Cell>> cells_;
  std::uint64_t last_number_ = 0;
};

}  // namespace cellblock::launcher
