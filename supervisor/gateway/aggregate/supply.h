#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/failure.h"
#include "supervisor/gateway/io/clock.h"

/// Which servers' catalogues are here, on their way, or not to be had.
namespace cellblock::gateway {

class Supply {
 public:
  static constexpr Milliseconds retry_delay{500};  ///< before the one retry of a cold start
  static constexpr Milliseconds rest{30'000};      ///< of a server that failed twice

  enum class Ask : std::uint8_t { now, no };
  /// Somebody needs it: whether to ask for it.
  Ask need(std::uint32_t server, Time now);
  void arrived(std::uint32_t server);
  void failed(std::uint32_t server, const Failure& failure, Time now);

  /// It is here, or has failed twice: waiting would tell nobody more before long.
  bool is_settled(std::uint32_t server) const;
  /// Why it is not here; null: it is, or it is on its way for the first time.
  const std::string* reason(std::uint32_t server) const;

  /// Those whose retry is due.
  std::vector<std::uint32_t> take_due(Time now);
  std::optional<Time> next_due() const;

 private:
  enum class State : std::uint8_t { unknown, asked, retry_waits, asked_again, here, resting };
  struct Entry {
    State state = State::unknown;
    std::string reason;
    Time due;  ///< of the retry, or the end of the rest
  };
  std::map<std::uint32_t, Entry> entries_;
};

}  // namespace cellblock::gateway
