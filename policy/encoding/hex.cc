#include "policy/encoding/hex.h"

#include <cstddef>

namespace cellblock {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

}  // namespace

std::string hex_text(std::span<const std::uint8_t> bytes) {
  std::string text(2 * bytes.size(), '0');
  auto place = text.begin();
  for (const std::uint8_t byte : bytes) {
    *place++ = hex_digits[byte >> 4U];
    *place++ = hex_digits[byte & 0xfU];
  }
  return text;
}

bool read_hex_text(std::string_view text, std::span<std::uint8_t> bytes) {
  if (text.size() != 2 * bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto high = hex_digits.find(text[2 * i]);
    const auto low = hex_digits.find(text[(2 * i) + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return false;
    bytes[i] = static_cast<std::uint8_t>(high << 4U | low);
  }
  return true;
}

}  // namespace cellblock
