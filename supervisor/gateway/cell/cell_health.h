#pragma once

#include <cstdint>
#include <optional>

#include "policy/config/cell_rules.h"
#include "supervisor/os/clock.h"

/// Whether a running cell is still wanted, and whether its server still answers. A cell that no
/// session needs is to be stopped. A silent cell is pinged, and given up if it does not answer.
/// Pure: messages and times in, decisions out.
namespace cellblock::gateway {

class CellHealth {
 public:
  /// The rules outlive it.
  CellHealth(const StopRules& stop, const HealthRules& health) : stop_(stop), health_(health) {}

  /// Starts the clock.
  void begin(Time now);
  /// A host has said something to it since the last look.
  void host_spoke() { host_spoke_ = true; }
  /// Anything at all.
  void server_spoke(Time now);
  /// The server's output is not read at the moment, so its silence means nothing.
  void set_paused(bool paused, Time now);

  enum class Action : std::uint8_t { none, stop, ask, give_up };
  struct Look {
    Action action = Action::none;
    std::optional<Milliseconds> next;  ///< the latest time for the next look; none: never
  };
  /// `is_busy`: a call waits for the cell. `may_ask`: the cell can be pinged now.
  Look look(bool is_busy, bool may_ask, Time now);

 private:
  Action judge_silence(bool may_ask, Time now);
  std::optional<Milliseconds> next_look(Time now) const;

  const StopRules& stop_;
  const HealthRules& health_;
  bool host_spoke_ = false;
  Time quiet_since_;
  Time heard_;
  std::optional<Time> asked_;
  bool is_doubted_ = false;
  bool is_paused_ = false;
};

}  // namespace cellblock::gateway
