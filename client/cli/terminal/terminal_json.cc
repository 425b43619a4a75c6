#include "client/cli/terminal/terminal_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "policy/base/hidden_characters.h"
#include "policy/base/utf8.h"

namespace cellblock::cli {
namespace {

constexpr char32_t delete_character = 0x7f;
constexpr char32_t replacement = 0xfffd;

std::string escaped(char32_t value) {
  constexpr char32_t beyond = 0x10000;
  if (value < beyond) return fmt::format("\\u{:04x}", static_cast<unsigned>(value));
  const auto rest = static_cast<unsigned>(value - beyond);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800U + (rest >> 10U), 0xdc00U + (rest & 0x3ffU));
}

}  // namespace

// Outside of strings JSON is ASCII, so no escape is put where there can be none.
std::string terminal_json(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  while (!json.empty()) {
    const CodePoint point = first_code_point(json);
    if (point.length == 0) {
      text += escaped(replacement);
    } else if (is_hidden(point.value) || point.value == delete_character) {
      text += escaped(point.value);
    } else {
      text += json.substr(0, point.length);
    }
    json.remove_prefix(std::max<std::size_t>(point.length, 1));
  }
  return text;
}

}  // namespace cellblock::cli
