#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Turns the output of one of cellblock's own processes into lines for the daemon's log. The
/// process may have been taken over: bytes that could forge a line or a level are escaped
/// (policy/base/printable.h), and the number of lines is bounded. Pure.
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

  /// `program`: "cellblock-gateway"; each line begins with it.
  explicit LogLines(std::string program) : lead_(std::move(program) + ": ") {}

  /// Takes the next bytes. A line over its bound is cut; lines over the rate are counted and
  /// reported later.
  std::vector<Line> take(std::string_view bytes, Time now);
  /// The last, unfinished line, and the count of lines left out.
  std::vector<Line> finish();

 private:
  void take_line(Time now, std::vector<Line>& lines);
  void tell_left_out(std::vector<Line>& lines);
  Line line_of(std::string_view text) const;

  std::string lead_;
  std::string begun_;      ///< the line that has no end yet
  std::uint64_t cut_ = 0;  ///< bytes of that line that were left out
  Time second_;            ///< the beginning of the second that `said_` counts in
  std::uint32_t said_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace cellblock::daemon
