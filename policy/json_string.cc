#include "policy/json_string.h"

#include <charconv>
#include <cstddef>

namespace cellblock {
namespace {

constexpr std::size_t escape_length = 6;  // \uXXXX
constexpr unsigned not_an_escape = 0x10000;

/// The code unit of the `\uXXXX` at the start of `raw`.
unsigned code_unit(std::string_view raw) {
  if (raw.size() < escape_length || !raw.starts_with("\\u")) return not_an_escape;
  unsigned unit = not_an_escape;
  const char* digits = raw.data() + 2;
  const auto [end, error] = std::from_chars(digits, digits + 4, unit, 16);
  return end == digits + 4 ? unit : not_an_escape;
}

bool is_high(unsigned unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low(unsigned unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

}  // namespace

bool has_lone_surrogate(std::string_view raw) {
  while (true) {
    const std::size_t special = raw.find_first_of("\\\"");
    if (special == std::string_view::npos || raw[special] == '"') return false;
    raw.remove_prefix(special);
    const unsigned unit = code_unit(raw);
    if (unit == not_an_escape) {
      raw.remove_prefix(raw.size() < 2 ? raw.size() : 2);
      continue;
    }
    raw.remove_prefix(escape_length);
    if (is_low(unit)) return true;
    if (!is_high(unit)) continue;
    if (!is_low(code_unit(raw))) return true;
    raw.remove_prefix(escape_length);
  }
}

}  // namespace cellblock
