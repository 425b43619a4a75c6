#include "policy/base/utf8.h"

namespace cellblock {
namespace {

struct Lead {
  std::size_t length = 0;
  char32_t bits = 0;
  char32_t smallest = 0;  // below it the form is overlong
};

Lead read_lead(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if ((byte & 0xE0U) == 0xC0) return {2, byte & 0x1FU, 0x80};
  if ((byte & 0xF0U) == 0xE0) return {3, byte & 0x0FU, 0x800};
  if ((byte & 0xF8U) == 0xF0) return {4, byte & 0x07U, 0x10000};
  return {};
}

bool is_scalar_value(char32_t value) {
  return value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const Lead lead = read_lead(static_cast<unsigned char>(text.front()));
  if (lead.length == 0 || lead.length > text.size()) return {};
  char32_t value = lead.bits;
  for (const char c : text.substr(1, lead.length - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) != 0x80) return {};
    value = value << 6U | (byte & 0x3FU);
  }
  if (value < lead.smallest || !is_scalar_value(value)) return {};
  return {value, lead.length};
}

}  // namespace cellblock
