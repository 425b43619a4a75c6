#include "policy/config_check/choice_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cellblock {

void refuse_word(const Scope& scope, std::string_view key, const TextAt& text,
                 std::span<const std::string_view> known) {
  scope.error(text.at, key,
              fmt::format("\"{}\" is not known to this version; allowed: \"{}\"", text.value,
                          fmt::join(known, "\", \"")));
}

}  // namespace cellblock
