#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cellblock {

/// Why this is no name of a systemd credential; none: it is one. As systemd has it: the name of a
/// file of at most 255 bytes of ASCII, without control characters and ":".
std::optional<std::string> credential_problem(std::string_view name);

}  // namespace cellblock
