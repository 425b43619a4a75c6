#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "policy/config/access_rule.h"
#include "policy/config_check/value_check.h"

/// Names in rules: each exact, or a beginning and `*`.
namespace cellblock {

enum class NameKind : std::uint8_t { tool, resource, prompt, feature };

/// What is no such name is complained about, under the list's `key`; empty: the kind's own.
std::vector<NamePattern> check_patterns(const Scope& scope, NameKind kind, const TextList& texts,
                                        std::string_view key = {});

}  // namespace cellblock
