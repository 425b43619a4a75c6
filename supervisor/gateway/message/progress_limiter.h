#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "supervisor/os/clock.h"

namespace cellblock::gateway {

/// The progress of one call: it must rise, and a host is spared more of it than anybody reads. What
/// came too soon is kept, the last of it, so that the host still hears where the call has got to.
class ProgressLimiter {
 public:
  static constexpr unsigned most = 100;  ///< in each interval
  static constexpr std::chrono::seconds interval{1};
  static constexpr std::size_t longest_kept = 64U << 10;  ///< what is longer is not kept

  enum class Verdict : std::uint8_t { pass, keep, falls };

  /// `progress`: raw JSON of a number; empty, or none: it falls.
  Verdict judge(std::string_view progress, Time now);

  /// The last one that was to be kept, as it goes to the host.
  void keep(std::string text) { kept_ = std::move(text); }
  std::size_t kept_bytes() const { return kept_ ? kept_->size() : 0; }
  std::optional<std::string> take_kept() { return std::exchange(kept_, std::nullopt); }

 private:
  std::optional<double> last_;
  std::optional<Time> since_;
  unsigned passed_ = 0;
  std::optional<std::string> kept_;
};

}  // namespace cellblock::gateway
