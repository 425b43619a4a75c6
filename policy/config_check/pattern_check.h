#pragma once

#include <string_view>
#include <vector>

#include "policy/access/name_pattern.h"
#include "policy/config/access_rule.h"
#include "policy/config_check/value_check.h"

/// Lists of names in rules.
namespace cellblock {

/// What is no such name is complained about, under the list's `key`; empty: the kind's own.
std::vector<NamePattern> check_patterns(const Scope& scope, NameKind kind, const TextList& texts,
                                        std::string_view key = {});

}  // namespace cellblock
