#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

/// How long the cells of a server live, beside failures (restart_rules.h): values of the
/// configuration.
namespace cellblock {

enum class CellStart : std::uint8_t {
  on_demand,  ///< when a request needs it
  session,    ///< when a session begins that may use it
};

struct StartRules {
  CellStart when = CellStart::on_demand;
  /// Cells of each user that run already and wait for a session.
  std::uint32_t warm = 0;
  bool operator==(const StartRules&) const = default;
};

/// The launcher's descriptors and the ids of egress helpers have a known end.
inline constexpr std::uint32_t max_cells = 1'024;

/// How many cells of servers there may be at one time. Gateways, the audit writer and egress
/// helpers do not count: those have bounds of their own.
struct CellBounds {
  std::uint32_t in_all = max_cells;
  std::uint32_t of_user = 256;  ///< over all servers, so that nobody alone can use up the other
  bool operator==(const CellBounds&) const = default;
};

struct StopRules {
  /// Without a call, an open stream or an answer that is missing; none: never.
  std::optional<std::chrono::milliseconds> idle = std::chrono::milliseconds{1'800'000};
  bool operator==(const StopRules&) const = default;
};

struct HealthRules {
  /// After so long without a word of the server it is asked; none: never.
  std::optional<std::chrono::milliseconds> ping;
  std::chrono::milliseconds timeout{10'000};  ///< for its answer
  bool operator==(const HealthRules&) const = default;
};

}  // namespace cellblock
