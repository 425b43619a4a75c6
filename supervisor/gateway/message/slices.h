#pragma once

#include <span>
#include <string_view>

namespace cellblock::gateway {

/// Pieces of one message, newline included. They point into the line that was handed in and into
/// the edits, so they are gone when the call returns.
using Slices = std::span<const std::string_view>;

}  // namespace cellblock::gateway
