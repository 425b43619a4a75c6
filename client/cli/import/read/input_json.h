#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "policy/base/result.h"

/// Configurations that others wrote, in JSON, JSON with comments or TOML, as JSON values. Bounded
/// in size and depth; a name that stands twice in one object is an error.
namespace cellblock::cli {

/// JSON with comments and with commas behind last elements, as plain JSON of the same length: both
/// become blanks, so that places in it stay what they were. What is no JSON stays none. An error:
/// deeper than `most` levels, or a comment without an end.
Result<std::string> plain_json(std::string_view text, int most);

inline constexpr std::size_t max_import_bytes = 1U << 20;
inline constexpr int max_import_depth = 32;

/// JSON, with the comments and last commas that hosts allow.
Result<nlohmann::ordered_json> json_of_json(std::string_view text);

/// TOML; dates and times as null.
Result<nlohmann::ordered_json> json_of_toml(std::string_view text);

/// Which of both it is shows in its first character.
bool looks_like_json(std::string_view text);

}  // namespace cellblock::cli
