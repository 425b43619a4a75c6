#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "client/cli/common/context.h"

namespace cellblock::cli {

/// Which side ended the session first: after its host the cell is stopped, which is no failure.
enum class EndedBy : std::uint8_t { daemon, host };

/// How the last cell of that server failed, if it did just now and after `began`. A copied session
/// ends without a word about why, so the daemon is asked once more; in doubt nothing is found.
std::optional<client::Error> failure_since(const Context& context, const std::string& server,
                                           std::chrono::system_clock::time_point began, EndedBy by);

}  // namespace cellblock::cli
