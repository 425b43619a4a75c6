#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

using RequestDigest = std::array<std::byte, 32>;

/// SHA-256 of what a retry must have in common with the request that was answered by a question:
/// the method and all params but `_meta`, `inputResponses` and `requestState`. The order of members
/// does not count.
RequestDigest digest_of(std::string_view method, const Json& params);

}  // namespace cellblock::gateway
