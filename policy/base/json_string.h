#pragma once

#include <string>
#include <string_view>

namespace cellblock {

/// `text` as a JSON string, quotes included; each byte that is no UTF-8 becomes U+FFFD. For
/// programs that link no JSON library.
std::string json_string(std::string_view text);

}  // namespace cellblock
