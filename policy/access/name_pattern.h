#pragma once

#include <cstdint>
#include <string_view>

#include "policy/base/result.h"
#include "policy/config/access_rule.h"

/// Names in rules: each exact, or a beginning and `*`. One reader for the daemon's rules and a
/// host's.
namespace cellblock {

enum class NameKind : std::uint8_t { tool, resource, prompt, feature };

/// The error says what the text is not, and what is allowed.
Result<NamePattern> read_name_pattern(NameKind kind, std::string_view text);

/// "tools": the key under which a configuration lists them.
std::string_view key_of(NameKind kind);

}  // namespace cellblock
