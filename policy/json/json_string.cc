#include "policy/json/json_string.h"

#include <charconv>
#include <cstddef>

namespace cellblock {
namespace {

constexpr std::size_t escape_length = 6;  // \uXXXX
constexpr unsigned not_an_escape = 0x10000;

/// The code unit of the `\uXXXX` at this place, if that is what stands there.
unsigned code_unit(std::string_view raw, std::size_t at) {
  if (raw.size() < at + escape_length || raw[at] != '\\' || raw[at + 1] != 'u') {
    return not_an_escape;
  }
  unsigned unit = not_an_escape;
  const char* digits = raw.data() + at + 2;
  const auto [end, error] = std::from_chars(digits, digits + 4, unit, 16);
  return end == digits + 4 ? unit : not_an_escape;
}

bool is_high(unsigned unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low(unsigned unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

}  // namespace

bool has_lone_surrogate(std::string_view raw) {
  std::size_t at = 0;
  while (at < raw.size() && raw[at] != '"') {
    if (raw[at] != '\\') {
      ++at;
      continue;
    }
    const unsigned unit = code_unit(raw, at);
    if (unit == not_an_escape) {
      at += 2;
      continue;
    }
    at += escape_length;
    if (is_low(unit)) return true;
    if (!is_high(unit)) continue;
    if (!is_low(code_unit(raw, at))) return true;
    at += escape_length;
  }
  return false;
}

}  // namespace cellblock
