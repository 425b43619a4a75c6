#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/config/config.h"
#include "policy/rates/token_bucket.h"

/// How many calls one user makes and has in flight: all together, in each session, of each server
/// and of each tool. Pure: what happens and when is handed in.
namespace cellblock {

class CallSlots;

/// The party whose bound it is.
enum class BoundOf : std::uint8_t { user, session, server, tool };

/// Why a call has no place.
struct Busy {
  enum class Why : std::uint8_t {
    rate,       ///< too many in a time
    log_share,  ///< too many for the audit log
    in_flight,  ///< too many at one time, and no more may wait
    waited,     ///< it was in the queue for as long as it may be
  };
  Why why{};
  BoundOf of{};
  CallBounds bounds;       ///< those of `of`
  std::uint32_t wait = 0;  ///< calls that wait for a place of that server
  /// When to try again. An estimate for calls in flight, whose end is not known.
  std::chrono::milliseconds retry_after{};
};

/// Waits for a place. Outlives its places.
class CallWaiter {
 public:
  /// One of its places has become free. Called from inside the release: to be taken up later.
  virtual void place_is_free() = 0;

 protected:
  ~CallWaiter() = default;
};

/// One call's place among those in flight, or in the queue. Destroying it gives the place back, so
/// that none can leak. Default: a call without bounds.
class CallSlot {
 public:
  CallSlot() = default;

  bool waits() const { return state_ && state_->waits; }
  /// For a waiting place: until when it may wait.
  Instant until() const { return state_->until; }
  /// What to say of one that has waited too long.
  Busy waited() const;

 private:
  friend class CallSlots;
  /// The bounds it counts against: tool, server, session, user.
  using CountedBy = std::array<bool, 4>;
  struct State {
    CallSlots& owner;
    CallWaiter& waiter;
    std::uint64_t session = 0;
    std::uint32_t server = 0;
    std::string tool;  ///< empty: none that had a bound of its own
    bool waits = false;
    CountedBy counted{};
    Instant until{};
  };
  struct GiveBack {
    void operator()(State* state) const;
  };
  explicit CallSlot(State state) : state_(new State(std::move(state))) {}

  std::unique_ptr<State, GiveBack> state_;
};

class CallSlots {
 public:
  /// `config` outlives it, and it outlives the places that it gave.
  explicit CallSlots(const Config& config);
  CallSlots(const CallSlots&) = delete;
  CallSlots& operator=(const CallSlots&) = delete;

  /// For calls that need no server: only the user's and the session's bounds hold, and no call
  /// waits.
  static constexpr std::uint32_t no_server = static_cast<std::uint32_t>(-1);

  struct Wanted {
    std::uint64_t session = 0;
    std::uint32_t server = 0;    ///< in the configuration
    std::string_view tool = {};  ///< empty: none's
  };
  std::expected<CallSlot, Busy> take(const Wanted& wanted, CallWaiter& waiter, Instant now);

  /// The user's share of the audit log, of which calls take with their places: whether anything is
  /// left, and one taking more, of what has lines but no place.
  std::optional<Busy> out_of_log(Instant now);
  void note_in_log(Instant now) { log_share_.take(now); }

  /// The configuration has changed: what is in flight counts on, and rates begin anew where they
  /// are others.
  void reconfigure();

  /// The session is over: what it has used up is not kept.
  void forget(std::uint64_t session) { sessions_.erase(session); }

  std::uint32_t in_flight(BoundOf of, const Wanted& wanted) const;
  std::size_t waiting(std::uint32_t server) const;

 private:
  friend class CallSlot;

  /// What one user, session, server or tool has used of its bounds.
  struct Use {
    explicit Use(const CallBounds& its) : bounds(its) {
      if (its.rate) bucket.emplace(*its.rate);
    }
    void rebind(const CallBounds& its);
    bool is_bounded() const { return bounds.rate || bounds.in_flight; }
    bool is_full() const { return bounds.in_flight && in_flight >= *bounds.in_flight; }

    CallBounds bounds;
    std::optional<TokenBucket> bucket;
    std::uint32_t in_flight = 0;
  };
  struct ServerUse {
    explicit ServerUse(const ServerCalls& its);
    void rebind(const ServerCalls& its);

    Use all;
    std::map<std::string, Use, std::less<>> tools;  ///< that have rules of their own
  };
  struct Bound {
    BoundOf of{};
    Use* use = nullptr;  ///< null: there is none
  };
  using Bounds = std::array<Bound, 4>;

  const ServerCalls& rules_of(std::uint32_t server) const;
  Bounds uses_of(const CallSlot::State& call);
  Bounds bounds_of(const CallSlot::State& call);
  Use* session_use(std::uint64_t session);
  bool bounds_sessions() const;
  std::optional<Busy> out_of_tokens(const Bounds& bounds, Instant now) const;
  void count_up(CallSlot::State& call, const Bounds& bounds);
  void give_back(const CallSlot::State& state);
  void let_in();

  const Config& config_;
  LogShare log_share_;
  Use user_;
  std::unordered_map<std::uint64_t, Use> sessions_;  ///< only where sessions are bounded
  std::vector<ServerUse> servers_;
  std::list<CallSlot::State*> queue_;  ///< of all servers, the oldest first
};

}  // namespace cellblock
