#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>

#include "supervisor/ipc/wire.h"
#include "supervisor/launcher/run/denial_counts.h"
#include "supervisor/launcher/run/event_loop.h"
#include "supervisor/seccomp/seccomp_filter.h"

namespace cellblock::launcher {

/// Answers the calls that cells' filters refuse and hand up here (SECCOMP_RET_USER_NOTIF), and
/// counts them. Each cell has so many answers a second, and so have all of them together; threads
/// that ask for more wait in their calls, so that a flood delays only itself. No call is ever
/// let through. One thread.
class Denials {
 public:
  static constexpr std::uint32_t answers_per_second = 5'000;  ///< and at once
  static constexpr std::uint32_t answers_to_all = 20'000;     ///< a tenth of a processor

  struct Listener {
    /// The cell made a call through another ABI and still waits in it: the cell is to be killed.
    std::function<void(std::uint32_t arch, std::int32_t number)> foreign;
    /// False: not now. It is offered again.
    std::function<bool(const wire::Denial&)> denied;
  };

  explicit Denials(EventLoop& loop) : loop_(loop) {}
  Denials(const Denials&) = delete;
  Denials& operator=(const Denials&) = delete;
  ~Denials();

  /// From the loading of the filter until forget(); at most once for each cell.
  SysResult<void> watch(std::uint64_t cell, Fd notifications,
                        std::shared_ptr<const FilterProgram> filter, Listener listener);

  /// Tells what is still untold, and closes the descriptor.
  void forget(std::uint64_t cell);

 private:
  struct Watched {
    Fd notifications;
    std::shared_ptr<const FilterProgram> filter;
    Listener listener;
    DenialCounts counts;
    RateBudget answers{answers_per_second, answers_per_second};
    enum class State : std::uint8_t { watching, throttled, over } state = State::watching;
  };

  void readable(std::uint64_t cell);
  void answer(Watched& watched);
  void stop_watching(Watched& watched, Watched::State state);
  void tell(Watched& watched);
  SysResult<void> make_timer();
  void wake_in(std::chrono::milliseconds wait);
  void tick();
  void watch_again(std::uint64_t cell, Watched& watched);

  EventLoop& loop_;
  std::map<std::uint64_t, std::unique_ptr<Watched>> cells_;
  RateBudget all_answers_{answers_to_all, answers_to_all};
  Fd timer_;                                ///< one for all cells, made with the first
  std::chrono::milliseconds waking_in_{0};  ///< 0: the timer does not run
};

}  // namespace cellblock::launcher
