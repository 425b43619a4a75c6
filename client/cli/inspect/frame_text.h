#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "cellblock/types.h"

namespace cellblock::cli {

/// "→     12.345 ms  {…}": one line, escaped, cut after 16 KiB. `since` is what has passed since
/// the connection was asked for.
std::string frame_text(client::FrameDirection direction, std::chrono::microseconds since,
                       std::string_view frame);

/// "12.3 ms".
std::string milliseconds_text(std::chrono::microseconds took);

}  // namespace cellblock::cli
