#include "policy/audit/anchor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "policy/audit/sealed_line.h"

namespace cellblock::audit {

std::string anchor_text(const ChainPoint& point) {
  return fmt::format("{}:{}", point.sequence, hex_of(point.hash));
}

Result<ChainPoint> read_anchor(std::string_view text) {
  ChainPoint point;
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view number = text.substr(0, colon);
  const char* const end = number.data() + number.size();
  const auto [rest, error] =
      std::from_chars(number.data(), number.data() + number.size(), point.sequence);
  if (error == std::errc() && rest == end && colon < text.size()) {
    if (const auto hash = digest_of_hex(text.substr(colon + 1))) {
      point.hash = *hash;
      return point;
    }
  }
  return fail("an anchor is what an earlier \"cellblock audit verify\" printed: SEQ:HASH");
}

}  // namespace cellblock::audit
