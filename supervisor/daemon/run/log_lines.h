#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What one of cellblock's own processes says, as lines for the daemon's log. It may have been
/// taken over, so nothing of it is taken for more than text: what could forge a line or a level is
/// escaped (policy/base/printable.h), and it gets so many lines. Pure.
namespace cellblock::daemon {

class LogLines {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::size_t longest_line = 2'000;
  static constexpr std::uint32_t lines_per_second = 50;

  enum class Level : std::uint8_t { info, warning, error };
  struct Line {
    Level level = Level::info;
    std::string text;
    bool operator==(const Line&) const = default;
  };

  /// `program`: "cellblock-gateway", which its lines begin with.
  explicit LogLines(std::string program) : lead_(std::move(program) + ": ") {}

  /// In pieces, as they come. What is over a bound is cut, or counted and told later.
  std::vector<Line> take(std::string_view bytes, Time now);
  /// The last line, which had no end, and what is still to be told.
  std::vector<Line> finish();

 private:
  void take_line(Time now, std::vector<Line>& lines);
  void tell_left_out(std::vector<Line>& lines);
  Line line_of(std::string_view text) const;

  std::string lead_;
  std::string begun_;      ///< of the line that has no end yet
  std::uint64_t cut_ = 0;  ///< bytes of it that were left out
  Time second_;            ///< when the second began that `said_` counts in
  std::uint32_t said_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace cellblock::daemon
