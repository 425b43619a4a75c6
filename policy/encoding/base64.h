#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cellblock {

/// Base64 with padding (RFC 4648, section 4).
std::string base64_text(std::string_view bytes);
/// nullopt: nothing that base64_text() writes.
std::optional<std::string> base64_bytes(std::string_view text);

}  // namespace cellblock
