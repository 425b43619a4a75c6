#pragma once

#include <optional>
#include <string_view>

#include "policy/config_reader/complaint.h"

/// toml++ bounds how deep values nest, but not how many parts a dotted key has, and frees each part
/// by recursion: a line of "a.a.a.…" would overflow the stack. So such a text never reaches it.
namespace cellblock {

inline constexpr int max_key_dots = 16;

/// Where a key with more dots than that begins to be too deep. Knows strings and comments as TOML
/// does, up to the first syntax error; what comes after one is never parsed.
std::optional<Place> find_too_deep_key(std::string_view text);

}  // namespace cellblock
