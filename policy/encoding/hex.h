#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// Bytes as hexadecimal digits: two for each, lower case.
namespace cellblock {

std::string hex_text(std::span<const std::uint8_t> bytes);

/// False: not exactly the digits of so many bytes; what they hold then is not specified.
bool read_hex_text(std::string_view text, std::span<std::uint8_t> bytes);

}  // namespace cellblock
