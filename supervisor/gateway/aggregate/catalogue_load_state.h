#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/failures/failure.h"
#include "supervisor/os/clock.h"

/// Which servers' catalogues are here, on their way, or not to be had.
namespace cellblock::gateway {

class CatalogueLoadState {
 public:
  static constexpr Milliseconds retry_delay{500};  ///< before the one retry of a cold start
  /// Until it is looked again whether a broken server is to be asked for. How long it is left alone
  /// is the catalogues' to say: other sessions asked for it too.
  static constexpr Milliseconds rest{30'000};

  /// A caller needs the catalogue. Returns whether to ask for it now.
  enum class Ask : std::uint8_t { now, no };
  Ask need(std::uint32_t server, Time now);
  void asked(std::uint32_t server);
  void arrived(std::uint32_t server);
  void failed(std::uint32_t server, const Failure& failure, Time now);
  /// Forgets that a caller needed the catalogue.
  void forget(std::uint32_t server) { entries_.erase(server); }
  /// The catalogue failed for an earlier caller: this one does not wait for it.
  void is_broken(std::uint32_t server, const Failure& failure, Time now);

  /// The catalogue has arrived, or has failed twice. Waiting longer would bring nothing.
  bool is_settled(std::uint32_t server) const;

  struct Reason {
    std::string full;
    std::string brief;
  };
  /// Why it is not here; null: it is, or it is on its way for the first time.
  const Reason* reason(std::uint32_t server) const;

  /// The servers whose retry is due.
  std::vector<std::uint32_t> take_due(Time now);
  std::optional<Time> next_due() const;

 private:
  enum class State : std::uint8_t { unknown, asked, retry_waits, asked_again, here, resting };
  struct Entry {
    State state = State::unknown;
    Reason reason;
    Time due;              ///< of the retry, or the end of the rest
    bool pending = false;  ///< it has been asked for, and neither arrived nor failed
  };
  std::map<std::uint32_t, Entry> entries_;
};

}  // namespace cellblock::gateway
