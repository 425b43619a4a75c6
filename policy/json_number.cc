#include "policy/json_number.h"

#include <charconv>
#include <cstdint>

namespace cellblock {
namespace {

constexpr std::int64_t largest_exact = (std::int64_t{1} << 53) - 1;

bool skip_one_of(std::string_view& text, std::string_view choices) {
  if (text.empty() || !choices.contains(text.front())) return false;
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
  skip_one_of(text, "-");
  return skip_one_of(text, "0") || skip_digits(text);
}

bool skip_exponent(std::string_view& text) {
  skip_one_of(text, "+-");
  return skip_digits(text);
}

}  // namespace

bool is_json_number(std::string_view text) {
  if (text.size() > max_number_length) return false;
  if (!skip_integer(text)) return false;
  if (skip_one_of(text, ".") && !skip_digits(text)) return false;
  if (skip_one_of(text, "eE") && !skip_exponent(text)) return false;
  return text.empty();
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
