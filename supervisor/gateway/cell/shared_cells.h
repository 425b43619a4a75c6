#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "supervisor/gateway/cell/cell_lifetime.h"
#include "supervisor/gateway/cell/cell_runner.h"
#include "supervisor/gateway/cell/gateway_services.h"

/// The cells that all sessions of a gateway's user share (`cells = "per-user"`): one for each such
/// server, from the first session that needs it until a while after the last has left it.
namespace cellblock::gateway {

class SharedCells final : private CellKeeper {
 public:
  /// For how long an unused shared cell is kept.
  static constexpr Milliseconds kept_idle{60'000};

  struct Hooks {
    /// A cell may have said something to any session.
    std::function<void()> settle_sessions;
    /// The last cell is over.
    std::function<void()> none_left;
  };
  SharedCells(GatewayServices& services, Hooks hooks);

  /// To be used at once. If the present cell is ending, another one is started.
  ServerCell& cell_of(std::uint32_t server);
  /// Bytes that the server has not taken.
  std::size_t queued(std::uint32_t server) const;
  std::size_t count(std::uint32_t server) const;
  /// Which sessions use it.
  std::set<std::uint64_t> sessions(std::uint32_t server) const;
  void stop(std::uint32_t server);
  /// Before SessionRunner::replace_cells(): who comes from now on has another cell, and this one
  /// ends when the last has left it.
  void replace_cells(std::uint32_t server);
  void stop_all();
  bool empty() const { return cells_.empty(); }
  /// Without traffic, which is the sessions'.
  std::vector<CellRow> rows(std::uint32_t server, Time now) const;

 private:
  struct Kept {
    std::unique_ptr<CellRunner> runner;
    std::unique_ptr<Timer> idle;
    bool is_idle = false;
  };

  // CellKeeper
  void cell_turn_done() override;

  void settle();
  std::size_t remove_ended();
  static void watch(Kept& kept);

  GatewayServices& services_;
  const Hooks hooks_;
  std::vector<Kept> cells_;
  bool is_scheduled_ = false;
};

}  // namespace cellblock::gateway
