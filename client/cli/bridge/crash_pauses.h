#pragma once

#include <chrono>
#include <optional>

namespace cellblock::cli {

/// How long a bridge waits before it goes to the next gateway when the one before has crashed: a
/// gateway that crashes whenever it is connected to keeps no processor busy, and not for ever.
/// Pure.
class CrashPauses {
 public:
  static constexpr std::chrono::milliseconds shortest{50};
  static constexpr std::chrono::milliseconds longest{5'000};
  static constexpr std::chrono::seconds sound{10};  ///< who lived so long begins anew
  static constexpr int most_in_a_row = 20;

  /// `lived`: how long the gateway that has crashed was this bridge's. nullopt: no other is tried.
  std::optional<std::chrono::milliseconds> after(std::chrono::milliseconds lived);

 private:
  int in_a_row_ = 0;
  std::chrono::milliseconds next_ = shortest;
};

}  // namespace cellblock::cli
