#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/config/result_bounds.h"

namespace cellblock {

/// A JSON-RPC error (validated JSON, raw) that says too much, with a shorter message and without
/// its data, or another one where it is no object; nullopt: it is within the bounds. Nothing of it
/// is kept: it says what went wrong.
std::optional<std::string> bounded_error(std::string_view error, const ResultBounds& bounds);

}  // namespace cellblock
