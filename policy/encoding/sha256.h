#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "policy/base/result.h"

namespace cellblock {

using Sha256 = std::array<std::uint8_t, 32>;

/// An error: the library has none to offer.
Result<Sha256> sha256(std::string_view bytes);
/// Of both, one after the other.
Result<Sha256> sha256(std::string_view first, std::string_view second);

}  // namespace cellblock
