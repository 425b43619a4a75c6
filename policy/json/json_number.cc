#include "policy/json/json_number.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
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

}  // namespace cellblock
