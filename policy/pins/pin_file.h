#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "policy/pins/pin_set.h"

/// One server's pins as a file holds them: a line that names the format, the length and the SHA-256
/// of what follows, then JSON. The digest tells a torn or damaged file from a whole one; against
/// somebody who can write the directory it protects nothing.
namespace cellblock {

std::string pin_file(const PinSet& pins);

/// False: it is not of this format and version, not whole, or none that this gateway would have
/// written; `pins` then is damaged.
bool read_pin_file(std::string_view bytes, PinSet& pins);

/// Escapes may double a text, and names come besides.
inline constexpr std::size_t max_pin_file =
    2 * (PinSet::max_bytes + PinSet::max_withheld_bytes) + (16U << 20);

}  // namespace cellblock
