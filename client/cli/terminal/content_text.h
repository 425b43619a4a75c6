#pragma once

#include <string>
#include <string_view>

namespace cellblock::cli {

/// The content of a tool's result for reading: text as it is, other blocks named ("[image
/// image/png, 1024 bytes of base64]"), structured content where there is nothing else. Untrusted.
std::string content_text(std::string_view result_json);

}  // namespace cellblock::cli
