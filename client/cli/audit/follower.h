#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "policy/base/result.h"

namespace cellblock::cli {

/// Calls with each line that is added to the log at `path` after line `last`, file after file,
/// until reading fails or a signal ends the command.
Result<void> follow_log(const std::string& path, std::uint64_t last,
                        const std::function<void(std::string_view line)>& take);

}  // namespace cellblock::cli
