#pragma once

#include <string_view>

namespace cellblock::gateway {

/// Whether this error (a JSON object), in answer to `initialize`, says that the server has no such
/// method: it is of the modern era alone. Any other error is the server's own trouble.
bool means_no_initialize(std::string_view error);

}  // namespace cellblock::gateway
