#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace cellblock {

using Sha256 = std::array<std::uint8_t, 32>;

/// Throws std::runtime_error where libcrypto has no SHA-256. No caller catches it: a program that
/// cannot tell two definitions or two lines of the log apart must not go on.
Sha256 sha256(std::string_view bytes);
/// The digest of `first` followed by `second`.
Sha256 sha256(std::string_view first, std::string_view second);

}  // namespace cellblock
