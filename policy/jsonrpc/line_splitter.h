#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

/// Bytes in, lines out, with a maximum. Splits at '\n' only. No I/O: the caller reads into
/// `writable()`, says `written()`, and then asks for lines until there are none.
namespace cellblock {

class LineSplitter {
 public:
  enum class Kind : std::uint8_t {
    need_more,  ///< no whole line is buffered
    line,       ///< `line` is valid until the next call of writable() or next()
    too_long,   ///< reported once, as soon as the limit is passed; the rest of that line is skipped
                ///< up to its newline without being buffered
  };
  struct Next {
    Kind kind = Kind::need_more;
    std::string_view line;   ///< without the newline; followed by MessageScanner::padding bytes
    std::size_t length = 0;  ///< too_long: bytes seen so far
  };

  /// `max_line` in bytes, without the newline. Memory is bounded by about max_line + one read, and
  /// is given back after a large line has been handled.
  explicit LineSplitter(std::size_t max_line);

  /// Where to write the next bytes: at least 16 KiB, more while a large line is coming in. Call it
  /// when next() has returned need_more: lines that were not taken count against no bound.
  std::span<char> writable();
  void written(std::size_t count);
  Next next();

  /// Bytes of an unfinished line: at end of input they are dropped.
  std::size_t unfinished() const { return end_ - begin_; }

  /// All that was written and not taken; nullopt: in the middle of a line that is skipped. Valid
  /// until the next call of writable() or next().
  std::optional<std::string_view> unread() const {
    if (mode_ == Mode::skipping) return std::nullopt;
    return std::string_view{buffer_.get() + begin_, unfinished()};
  }

  /// Bytes held, for bounds on memory.
  std::size_t capacity() const { return capacity_; }

 private:
  enum class Mode : std::uint8_t { collecting, skipping };

  Next skip();
  Next overlong(std::size_t length);
  Next take(std::size_t length);
  void settle();
  void move_to(std::size_t capacity);
  std::size_t wanted_capacity() const;

  std::size_t max_line_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;    // of the line that is coming in
  std::size_t scanned_ = 0;  // no newline in [begin_, scanned_): no byte is searched twice
  std::size_t end_ = 0;
  std::size_t last_large_ = 0;  // length of the last line that was too large to keep a buffer for
  Mode mode_ = Mode::collecting;
};

}  // namespace cellblock
