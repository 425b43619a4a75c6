#pragma once

#include <string_view>

namespace cellblock {

/// Whether a JSON string spells half of a surrogate pair (`"\ud800"`): Python keeps it, JavaScript
/// keeps it, others replace or refuse it, so two parsers would see two names. `raw` is the inside
/// of a string whose escapes are otherwise valid; reading stops at an unescaped quote. simdjson 3.0
/// lets some of these through.
bool has_lone_surrogate(std::string_view raw);

}  // namespace cellblock
