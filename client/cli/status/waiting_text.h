#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/cli/terminal/style.h"

namespace cellblock::cli {

/// The answer to cellblock/approvals as lines of a status: one for each call of that user that
/// waits, and how many more there are. Empty if none does. `server`: of this one only; empty: all.
std::string waiting_text(std::string_view approvals_json, std::uint32_t uid,
                         std::string_view server, Style style, std::size_t width);

}  // namespace cellblock::cli
