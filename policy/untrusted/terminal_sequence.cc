#include "policy/untrusted/terminal_sequence.h"

#include <algorithm>

#include "policy/base/printable.h"

namespace cellblock {
namespace {

constexpr std::size_t longest_sequence = 2'048;
constexpr char escape = 0x1B;
constexpr char bell = 0x07;
constexpr std::string_view string_end = "\xC2\x9C";  // ST, as C1

bool is_between(char c, char first, char last) { return c >= first && c <= last; }

std::size_t count_between(std::string_view text, char first, char last) {
  const auto* const end =
      std::ranges::find_if_not(text, [&](char c) { return is_between(c, first, last); });
  return static_cast<std::size_t>(end - text.begin());
}

// Parameters, intermediate bytes and the final one; 0: no such thing.
std::size_t control_length(std::string_view text) {
  std::size_t length = count_between(text, 0x30, 0x3F);
  length += count_between(text.substr(length), 0x20, 0x2F);
  return length < text.size() && is_between(text[length], 0x40, 0x7E) ? length + 1 : 0;
}

bool is_c1(std::string_view text) {
  return text.size() > 1 && text[0] == string_end[0] && static_cast<unsigned char>(text[1]) < 0xA0;
}

// Up to BEL or ST; 0: another control character comes before, or neither does. So the bytes between
// two control characters are looked at once, however many of them begin such a string.
std::size_t string_length(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.front() == bell) return i + 1;
    if (rest.starts_with("\x1B\\") || rest.starts_with(string_end)) return i + 2;
    if (is_between(rest.front(), 0, 0x1F) || is_c1(rest)) return 0;
  }
  return 0;
}

// What follows ESC, or the C1 character that stands for ESC and `kind`; 0: no whole sequence.
std::size_t length_behind(char kind, std::string_view text) {
  constexpr std::string_view strings = "]PX^_";
  if (kind == '[') return control_length(text);
  return strings.contains(kind) ? string_length(text) : 0;
}

std::size_t after_escape(std::string_view text) {
  if (text.empty()) return 0;
  if (const std::size_t length = length_behind(text.front(), text.substr(1)); length > 0) {
    return length + 1;
  }
  if (std::string_view("[]PX^_").contains(text.front())) return 0;
  const std::size_t between = count_between(text, 0x20, 0x2F);
  return between < text.size() && is_between(text[between], 0x30, 0x7E) ? between + 1 : 0;
}

}  // namespace

std::size_t terminal_sequence_length(std::string_view text) {
  text = text.substr(0, longest_sequence);
  if (text.front() == escape) return 1 + after_escape(text.substr(1));
  const CodePoint point = first_code_point(text);
  if (point.length < 2) return 1;
  const char kind = static_cast<char>(point.value - 0x40);  // U+009B: ESC [
  return point.length + length_behind(kind, text.substr(point.length));
}

}  // namespace cellblock
