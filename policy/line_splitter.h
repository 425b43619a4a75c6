#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Bytes in, lines out, with a maximum. Splits at '\n' only. No I/O: the caller reads into
/// `writable()` and then asks for lines.
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
    std::string_view line;  ///< without the newline; followed by MessageScanner::padding bytes
    std::size_t length = 0; ///< too_long: bytes seen so far
  };

  /// `max_line` in bytes, without the newline. Memory is bounded by about max_line + one read, and
  /// is given back after a large line has been handled.
  explicit LineSplitter(std::size_t max_line);

  /// Where to read the next bytes: at least 16 KiB, more while a large line is coming in.
  std::span<char> writable();
  void written(std::size_t count);
  Next next();

  /// Bytes of an unfinished line: at end of input they are dropped.
  std::size_t unfinished() const;
};

}  // namespace cellblock
