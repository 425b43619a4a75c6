#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/reload/difference.h"
#include "supervisor/loader/report/check_report.h"
#include "supervisor/loader/report/effective_keys.h"

/// The texts that a reload prints. Pure.
namespace cellblock::daemon {

enum class ReloadTense : std::uint8_t { done, would };

/// A line for each change, saying when it takes effect, and below it the changed values. `broken`:
/// the parts left out, new or not. At the end, the changes that wait for a restart.
std::string reload_text(const Difference& difference, const std::vector<ChangedKey>& values,
                        const std::vector<PartLeftOut>& broken, ReloadTense tense);
/// {"ok":true,"applied":true,"changes":[{"server":"files","change":"policy","keys":["allow,
/// rule"]}],"values":[{"key":"server.files.limits.memory","from":"\"1GiB\"","to":"\"2GiB\""}],
/// "left":["socket"],"broken":[{"what":"server git","cause":"..."}]}
std::string reload_json(const Difference& difference, const std::vector<ChangedKey>& values,
                        const std::vector<PartLeftOut>& broken, ReloadTense tense);
std::string reload_error_json(std::string_view why);

}  // namespace cellblock::daemon
