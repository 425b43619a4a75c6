#include "policy/mcp/foreign_framing.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

namespace cellblock {
namespace {

constexpr std::size_t shortest_utf16 = 4;

// A notification that is lost leaves nobody waiting, and the answer may still be readable.
bool looks_like_an_answer(std::string_view text) {
  return text.starts_with('{') && text.contains("\"jsonrpc\"") && !text.contains("\"method\"");
}

bool is_marked_answer(std::string_view line) {
  return line.starts_with(utf8_byte_order_mark) &&
         looks_like_an_answer(line.substr(utf8_byte_order_mark.size()));
}

/// The newline is one byte to us: the second byte of a little-endian one begins the next line.
bool is_utf16_answer(std::string_view line) {
  if (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff")) line.remove_prefix(2);
  if (line.size() < shortest_utf16 || !line.substr(0, 2).contains('\0')) return false;
  std::string text;
  text.reserve(line.size() / 2);
  std::ranges::remove_copy(line, std::back_inserter(text), '\0');
  return looks_like_an_answer(text);
}

bool begins_with(std::string_view line, std::string_view name) {
  return std::ranges::equal(line.substr(0, name.size()), name, [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

/// 0: another header, or no number.
std::size_t content_length(std::string_view line) {
  constexpr std::string_view name = "content-length:";
  if (!begins_with(line, name)) return 0;
  line.remove_prefix(name.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  std::size_t length = 0;
  std::from_chars(line.data(), line.data() + line.size(), length);
  return length;
}

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

std::string_view cause_of(ForeignFraming framing) {
  switch (framing) {
    case ForeignFraming::byte_order_mark:
      return "wrote a byte order mark before its messages";
    case ForeignFraming::utf16:
      return "wrote its messages in UTF-16";
    case ForeignFraming::content_length:
      return "wrote Content-Length headers before its messages, as LSP does";
  }
  return "";
}

FramingDetector::Found FramingDetector::line(std::string_view line) {
  if (is_marked_answer(line)) return ForeignFraming::byte_order_mark;
  if (is_utf16_answer(line)) return ForeignFraming::utf16;
  return in_headers(without_return(line));
}

// Headers count in the first lines only: a server that logs its HTTP traffic writes some too, after
// a status line. A body that ends with a newline is a line, and as such it is read.
FramingDetector::Found FramingDetector::in_headers(std::string_view line) {
  switch (state_) {
    case State::first_line:
    case State::headers: {
      if (line.empty() && length_ != 0) state_ = State::body;
      if (line.empty()) return {};
      const bool is_header = content_length(line) != 0 || begins_with(line, "content-type:");
      state_ = is_header ? State::headers : State::no_headers;
      length_ = std::max(length_, content_length(line));
      return {};
    }
    case State::body:
      state_ = State::no_headers;
      // The next header stands on the same line, behind the body.
      if (line.size() > length_ && line.starts_with('{')) return ForeignFraming::content_length;
      return {};
    case State::no_headers:
      return {};
  }
  return {};
}

FramingDetector::Found FramingDetector::unfinished(std::string_view bytes) const {
  const bool is_whole = awaits_body() && bytes.size() >= length_ && bytes.starts_with('{');
  return is_whole ? Found{ForeignFraming::content_length} : Found{};
}

}  // namespace cellblock
