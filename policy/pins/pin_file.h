#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "policy/pins/pin_set.h"

/// The file format of one server's pins: a line with the format, the length and the SHA-256 of what
/// follows, then JSON. The digest detects a torn or damaged file. It does not protect against an
/// attacker who can write the directory.
namespace cellblock {

std::string pin_file(const PinSet& pins);

/// False: it is not of this format and version, not whole, or none that this gateway would have
/// written; `pins` then is damaged.
bool read_pin_file(std::string_view bytes, PinSet& pins);

/// Escapes may double a text, and names come besides.
inline constexpr std::size_t max_pin_file =
    2 * (PinSet::max_bytes + PinSet::max_withheld_bytes) + (16U << 20);

}  // namespace cellblock
