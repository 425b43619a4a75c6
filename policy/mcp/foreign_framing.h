#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// Recognises a server that writes messages, but not as lines of UTF-8. Such a server is silent to
/// MCP, although it answers. Pure.
namespace cellblock {

enum class ForeignFraming : std::uint8_t {
  byte_order_mark,  ///< UTF-8 with a byte order mark before an answer
  utf16,            ///< with or without a byte order mark, either byte order
  content_length,   ///< header lines and a body without a newline, as in LSP
};

/// "wrote a byte order mark before its messages"
std::string_view cause_of(ForeignFraming framing);

inline constexpr std::string_view utf8_byte_order_mark = "\xef\xbb\xbf";

/// Looks at what a server writes before its first valid answer.
class FramingDetector {
 public:
  using Found = std::optional<ForeignFraming>;

  /// A line that is no message, without its newline.
  Found line(std::string_view line);
  /// A body of a known length is awaited: unfinished() wants to know what comes.
  bool awaits_body() const { return state_ == State::body; }
  /// What follows the last newline.
  Found unfinished(std::string_view bytes) const;

 private:
  enum class State : std::uint8_t { first_line, headers, body, no_headers };

  Found in_headers(std::string_view line);

  State state_ = State::first_line;
  std::size_t length_ = 0;  ///< of Content-Length; 0: none so far
};

}  // namespace cellblock
