#include "policy/encoding/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

// By hand: libcrypto's takes white space and stray bits for nothing, and a program that needs
// nothing else of it would take twice as long to start.
namespace cellblock {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t group_bytes = 3;
constexpr std::size_t group_digits = 4;
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> digit_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_digit);
  for (std::size_t value = 0; value < alphabet.size(); ++value) {
    values.at(static_cast<unsigned char>(alphabet[value])) = static_cast<std::uint8_t>(value);
  }
  return values;
}();

// Of one to three bytes; what is missing counts as zero, and its digits are padding.
void append_digits(std::string& text, std::string_view bytes) {
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < group_bytes; ++i) {
    group = (group << 8U) | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
  }
  for (std::size_t i = 0; i < group_digits; ++i) {
    const auto digit = (group >> (6 * (group_digits - 1 - i))) & 63U;
    text += i <= bytes.size() ? alphabet[digit] : '=';
  }
}

// False: one of its digits is none.
bool append_bytes(std::string& bytes, std::string_view digits) {
  std::uint32_t group = 0;
  for (const char digit : digits) {
    const auto value = digit_values.at(static_cast<unsigned char>(digit));
    if (value == no_digit) return false;
    group = (group << 6U) | value;
  }
  group <<= 6 * (group_digits - digits.size());
  for (std::size_t i = 0; i + 1 < digits.size(); ++i) {
    bytes += static_cast<char>((group >> (16 - (8 * i))) & 255U);
  }
  return true;
}

}  // namespace

std::string base64_text(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + group_bytes - 1) / group_bytes * group_digits);
  for (std::size_t at = 0; at < bytes.size(); at += group_bytes) {
    append_digits(text, bytes.substr(at, group_bytes));
  }
  return text;
}

std::optional<std::string> base64_bytes(std::string_view text) {
  if (text.size() % group_digits != 0) return std::nullopt;
  auto digits = text;
  for (int padding = 0; padding < 2 && digits.ends_with('='); ++padding) digits.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / group_digits * group_bytes);
  for (std::size_t at = 0; at < digits.size(); at += group_digits) {
    if (!append_bytes(bytes, digits.substr(at, group_digits))) return std::nullopt;
  }
  // One way to write it: bits that no byte has are zero.
  if (base64_text(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace cellblock
