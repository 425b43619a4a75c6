#include "policy/json/json_values.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <system_error>

namespace cellblock {
namespace {

constexpr std::int64_t largest_exact = (std::int64_t{1} << 53) - 1;

template <char... choices>
bool skip_one_of(std::string_view& text) {
  if (text.empty() || !((text.front() == choices) || ...)) return false;
  text.remove_prefix(1);
  return true;
}

/// One digit or more.
bool skip_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
  text.remove_prefix(count);
  return count != 0;
}

bool skip_integer(std::string_view& text) {
  skip_one_of<'-'>(text);
  return skip_one_of<'0'>(text) || skip_digits(text);
}

bool skip_exponent(std::string_view& text) {
  skip_one_of<'+', '-'>(text);
  return skip_digits(text);
}

/// Only an exponent can make a number too large or too small: 256 digits alone cannot.
bool fits_a_double(std::string_view text) {
  double value = 0;
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{};
}

}  // namespace

bool is_json_number(std::string_view text) {
  if (text.size() > max_number_length) return false;
  std::string_view rest = text;
  if (!skip_integer(rest)) return false;
  if (skip_one_of<'.'>(rest) && !skip_digits(rest)) return false;
  if (!skip_one_of<'e', 'E'>(rest)) return rest.empty();
  return skip_exponent(rest) && rest.empty() && fits_a_double(text);
}

bool is_exact_integer(std::string_view text) {
  if (text == "-0") return false;
  std::string_view rest = text;
  if (!skip_integer(rest) || !rest.empty()) return false;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && value >= -largest_exact && value <= largest_exact;
}

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
  for (std::size_t at = raw.find('\\'); at < raw.size(); at = raw.find('\\', at)) {
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

namespace {

// Up to here comparing each with each is faster than sorting.
constexpr std::size_t few = 12;
constexpr std::size_t kept_keys = 4096;

using Keys = std::span<std::string_view>;

bool few_are_distinct(Keys keys) {
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (std::ranges::find(keys.first(i), keys[i]) != keys.begin() + static_cast<std::ptrdiff_t>(i))
      return false;
  }
  return true;
}

bool many_are_distinct(Keys keys) {
  // By length first: that settles most comparisons without looking at a byte.
  std::ranges::sort(keys, [](std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return std::ranges::adjacent_find(keys) == keys.end();
}

}  // namespace

void OpenKeys::clear() {
  keys_.clear();
  if (keys_.capacity() > kept_keys) keys_.shrink_to_fit();
}

bool OpenKeys::close_distinct(Mark mark) {
  const Keys keys = std::span(keys_).subspan(mark);
  const bool distinct = keys.size() <= few ? few_are_distinct(keys) : many_are_distinct(keys);
  keys_.resize(mark);
  return distinct;
}

}  // namespace cellblock
