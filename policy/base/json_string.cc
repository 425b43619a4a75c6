#include "policy/base/json_string.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/base/printable.h"

namespace cellblock {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

std::string escaped(char control) {
  switch (control) {
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return fmt::format("\\u{:04x}", static_cast<unsigned char>(control));
  }
}

void add_character(std::string& out, std::string_view character) {
  const char first = character.front();
  if (static_cast<unsigned char>(first) >= ' ') {
    if (first == '"' || first == '\\') out += '\\';
    out += character;
  } else {
    out += escaped(first);
  }
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = first_code_point(text).length;
    if (length == 0) {
      out += replacement;
    } else {
      add_character(out, text.substr(0, length));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out + "\"";
}

}  // namespace cellblock
