#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/os/clock.h"

/// What the cells of one server wrote on stderr: whole lines, escaped, bounded in length, number
/// and rate.
namespace cellblock::gateway {

struct StderrLine {
  std::uint64_t cell = 0;
  std::int64_t at_ms = 0;  ///< Unix time
  std::string text;        ///< escaped
};

/// Consecutive lines, and where the reader goes on.
struct StderrPage {
  std::vector<const StderrLine*> lines;  ///< oldest first
  std::uint64_t next = 0;                ///< number of the last of them, or what was asked for
  std::uint64_t missed = 0;              ///< came before them, and are not kept any more
};

/// The last lines of one server's stderr, numbered from 1.
class StderrRing {
 public:
  static constexpr std::size_t max_lines = 200;

  void add(StderrLine line);
  /// The newest `count` of all cells.
  StderrPage last(std::size_t count) const;
  /// The oldest `count` behind the line of that number.
  StderrPage after(std::uint64_t number, std::size_t count) const;
  /// The texts of the newest `count` of one cell.
  std::vector<std::string> last_of(std::uint64_t cell, std::size_t count) const;

 private:
  StderrPage page(std::size_t first, std::size_t count) const;

  std::deque<StderrLine> lines_;
  std::uint64_t dropped_ = 0;  ///< that were kept before
};

/// Cuts one cell's bytes into lines. A flood is summed up instead of stored.
class StderrCollector {
 public:
  static constexpr std::size_t max_line = 8U << 10;
  static constexpr std::uint32_t max_lines_per_second = 100;

  /// Redacts a line before it is stored; null: it is stored as it is.
  using Clean = std::function<std::string(std::string_view line)>;

  StderrCollector(StderrRing& ring, std::uint64_t cell, Clean clean = nullptr)
      : ring_(ring), cell_(cell), clean_(std::move(clean)) {}

  void add(std::string_view bytes, std::int64_t now_ms);
  /// At end of file: the rest is a line too.
  void finish(std::int64_t now_ms);

 private:
  void line_ends(std::int64_t now_ms);
  void new_second(std::int64_t now_ms);

  StderrRing& ring_;
  std::uint64_t cell_;
  Clean clean_;
  std::string partial_;
  std::size_t cut_ = 0;  ///< bytes of this line beyond max_line
  std::int64_t second_ = 0;
  std::uint32_t in_second_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace cellblock::gateway
