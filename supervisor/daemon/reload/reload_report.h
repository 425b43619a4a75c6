#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/reload/difference.h"
#include "supervisor/daemon/report/check_report.h"
#include "supervisor/daemon/report/effective_keys.h"

/// The text that a reload prints. Pure.
namespace cellblock::daemon {

enum class ReloadTense : std::uint8_t { done, would };

/// A line for each change, with when it takes effect, and below it the values that differ.
/// `broken`: what is left out by it, whether that is new or not. Last, what waits for a restart.
std::string reload_text(const Difference& difference, const std::vector<ChangedKey>& values,
                        const std::vector<PartLeftOut>& broken, ReloadTense tense);
/// {"ok":true,"applied":true,"changes":[{"server":"files","change":"policy","keys":["allow,
/// rule"]}],"values":[{"key":"server.files.limits.memory","from":"\"1GiB\"","to":"\"2GiB\""}],
/// "left":["socket"],"broken":[{"what":"server git","cause":"..."}]}
std::string reload_json(const Difference& difference, const std::vector<ChangedKey>& values,
                        const std::vector<PartLeftOut>& broken, ReloadTense tense);
std::string reload_error_json(std::string_view why);

}  // namespace cellblock::daemon
