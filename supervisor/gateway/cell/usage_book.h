#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "supervisor/ipc/wire.h"
#include "supervisor/os/clock.h"

/// What the cells use, as the launcher last reported. The launcher is asked only on demand, with
/// one request at a time. Pure: requests and reports in, answers out.
namespace cellblock::gateway {

class UsageBook {
 public:
  /// What is this young is not asked for again.
  static constexpr Milliseconds fresh_for{200};
  /// What is older is not shown.
  static constexpr Milliseconds shown_for{3'000};
  /// Longest wait for a report; see wait_is_over().
  static constexpr Milliseconds patience{1'000};
  static constexpr std::size_t most_waiting = 256;

  /// Asks the launcher for the cells behind that one.
  using Ask = std::function<void(std::uint64_t after)>;
  using Then = std::function<void()>;

  explicit UsageBook(Ask ask) : ask_(std::move(ask)) {}

  /// Once the numbers are fresh, or will not be; at once where there is nothing to wait for.
  void when_known(Time now, Then then);
  bool is_waited_for() const { return !waiting_.empty(); }
  void told(const wire::UsagePage& page, Time now);
  void wait_is_over();

  /// Until it has ended its use is asked for.
  void cell_started(std::uint64_t cell) { cells_[cell] = {}; }
  void cell_ended(std::uint64_t cell) { cells_.erase(cell); }
  /// All zero where nothing is known.
  wire::CellUsage of(std::uint64_t cell, Time now) const;

 private:
  struct Told {
    wire::CellUsage usage;
    Time at;
  };

  void serve();

  Ask ask_;
  std::map<std::uint64_t, Told> cells_;
  std::vector<Then> waiting_;
  bool asked_ = false;  ///< and not answered
  Time begun_;          ///< of the last round
};

}  // namespace cellblock::gateway
