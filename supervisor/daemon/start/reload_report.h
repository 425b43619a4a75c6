#pragma once

#include <string>
#include <string_view>

#include "policy/reload/difference.h"

/// What whoever reloads is told. Pure.
namespace cellblock::daemon {

enum class ReloadTense : std::uint8_t { done, would };

/// A line for each change, with when it takes effect.
std::string reload_text(const Difference& difference, ReloadTense tense);
/// {"ok":true,"applied":true,"changes":[{"server":"files","change":"policy","keys":["allow,
/// rule"]}]}
std::string reload_json(const Difference& difference, ReloadTense tense);
std::string reload_error_json(std::string_view why);

}  // namespace cellblock::daemon
