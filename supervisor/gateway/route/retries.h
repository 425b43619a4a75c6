#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/mcp/methods.h"
#include "supervisor/gateway/route/held_messages.h"
#include "supervisor/os/clock.h"

/// Calls that are made again when their cell has crashed. Only those that do no harm twice: the
/// administrator says so of the tool, or the server has not been sent them yet. Pure.
namespace cellblock::gateway {

/// The state of a call by the host's id, in raw JSON.
struct CallStates {
  std::function<bool(std::string_view)> is_in_flight;
  std::function<bool(std::string_view)> is_unsent;
};

class Retries {
 public:
  static constexpr std::size_t most = 64;
  static constexpr std::size_t max_bytes = 4U << 20;

  explicit Retries(const Server& server) : server_(server) {}

  /// A request of the host goes to the server. Keeps what may have to be made again, as long as it
  /// is in flight.
  void went(std::string_view line, const Message& message, const CallStates& calls, Time now);

  /// The call is not repeated after all: it was cancelled, or answered here.
  void forget(std::string_view id) {
    std::erase_if(kept_, [id](const Kept& k) { return k.id == id; });
  }

  /// The cell has ended. Returns the calls to repeat, oldest first; this object answers the others.
  std::vector<HeldMessage> take(const Failure& failure, const CallStates& calls, Time now);
  /// How long to wait before: longer each time, and of that up to a half by chance, so that those
  /// who lost the same thing do not come back together.
  Milliseconds pause(std::uint64_t random) const;

 private:
  struct Kept {
    std::string id;
    HeldMessage message;
    Time began;
    bool repeatable = false;
    unsigned attempts = 0;
    bool on_its_way = false;  ///< taken, and not seen again yet
  };

  bool is_repeatable(const Message& message) const;
  bool may_keep(const Message& message, std::string_view line) const;
  bool is_in_time(const Kept& kept, Time now) const;

  const Server& server_;
  std::vector<Kept> kept_;
  unsigned latest_attempt_ = 0;
};

/// Whether a cell that ended so may do better the next time. One that did not start will not, and
/// one that was stopped shall not.
bool may_do_better(const Failure& failure);

}  // namespace cellblock::gateway
