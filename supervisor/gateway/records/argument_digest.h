#pragma once

#include <string_view>

#include "policy/encoding/sha256.h"

namespace cellblock::gateway {

/// SHA-256 of `arguments` in these params of tools/call, as canonical_json(); of `{}` where there
/// are none. Zeros: it cannot be told.
Sha256 argument_digest(std::string_view params);

}  // namespace cellblock::gateway
