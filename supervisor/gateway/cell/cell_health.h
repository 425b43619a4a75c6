#pragma once

#include <cstdint>
#include <optional>

#include "policy/config/cell_rules.h"
#include "supervisor/os/clock.h"

/// Whether a cell that runs is still wanted, and whether its server still answers. One that nobody
/// needs is to be stopped; one that says nothing is asked, and given up if it does not answer.
/// Pure: what was said and times in, what to do out.
namespace cellblock::gateway {

class CellHealth {
 public:
  /// The rules outlive it.
  CellHealth(const StopRules& stop, const HealthRules& health) : stop_(stop), health_(health) {}

  /// From now on.
  void begin(Time now);
  /// A host has said something to it since the last look.
  void host_spoke() { host_spoke_ = true; }
  /// Anything at all.
  void server_spoke(Time now);
  /// Nobody reads what it says, so that its silence means nothing.
  void set_paused(bool paused, Time now);

  enum class Action : std::uint8_t { none, stop, ask, give_up };
  struct Look {
    Action action = Action::none;
    std::optional<Milliseconds> next;  ///< the latest time for the next look; none: never
  };
  /// `is_busy`: somebody waits for something in it. `may_ask`: it can be asked now.
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
