#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "supervisor/gateway/cell/cell_lifetime.h"
#include "supervisor/gateway/cell/cell_runner.h"
#include "supervisor/gateway/cell/gateway_services.h"

/// Cells that run already and wait for a session (`start.warm`), so that it does not wait for the
/// start of a runtime. Nothing is said to them and nothing is read from them before that.
namespace cellblock::gateway {

class SpareCells final : private CellKeeper {
 public:
  struct Hooks {
    /// The user may use that server.
    std::function<bool(std::uint32_t server)> may_use;
    /// Nothing speaks against another start of that server now.
    std::function<bool(std::uint32_t server)> may_start;
    /// Some session has to do with servers.
    std::function<bool()> is_anybody_there;
    /// The last one is over.
    std::function<void()> none_left;
  };
  SpareCells(GatewayServices& services, Hooks hooks);

  /// A session may need a cell of it: from now on there are as many as declared.
  void expect(std::uint32_t server);
  /// A waiting spare cell, as if it were new; null: there is none. To be used at once.
  std::unique_ptr<CellRunner> take(const CellPlan& plan, CellOwner owner, CellKeeper& keeper);
  /// A session's cell is being started or introduced: starts of spare cells wait, at most for
  /// `head_start`.
  void hold_back(std::uint32_t server);
  /// The session's cell has answered, or will not: starts of spare cells wait for
  /// `first_questions`.
  void go_on(std::uint32_t server);
  static constexpr Milliseconds head_start{5'000};
  static constexpr Milliseconds first_questions{1'000};

  /// So long after the user's last session they are there for the next one: they take places that
  /// other users may need.
  static constexpr Milliseconds lonely_time{60'000};

  /// Stops the spare cells. New ones are started when a session comes.
  void stop(std::uint32_t server);
  /// What they were made from has changed.
  void replace(std::uint32_t server);
  /// The declared number, the permitted users, or the presence of sessions has changed.
  void look_again() { look_soon(); }
  void stop_all();

  bool empty() const { return cells_.empty(); }
  std::size_t count(std::uint32_t server) const;
  std::vector<CellRow> rows(std::uint32_t server, Time now) const;

 private:
  struct Wanted {
    bool is_expected = false;
    std::optional<Time> held_until;
  };
  struct Kept {
    std::unique_ptr<CellRunner> runner;
    bool is_told = false;  ///< to end
  };

  // CellKeeper
  void cell_turn_done() override { look_soon(); }

  void look_soon();
  void look();
  void remove_ended();
  void end_if_lonely();
  void wait_for_held();
  bool is_any_starting() const;
  bool is_short_of(std::uint32_t server) const;
  bool may_keep_any(std::uint32_t server) const;
  void trim(std::uint32_t server);
  void start(std::uint32_t server);
  void end_all_of(std::uint32_t server);

  GatewayServices& services_;
  const Hooks hooks_;
  std::vector<Wanted> wanted_;  ///< by server index
  std::vector<Kept> cells_;
  Timer held_back_;
  Timer lonely_;
  std::optional<Time> lonely_since_;
  bool is_scheduled_ = false;
  bool is_closed_ = false;
};

}  // namespace cellblock::gateway
