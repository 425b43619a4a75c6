#pragma once

#include <string>
#include <string_view>

/// Untrusted text for a terminal: control characters, bytes that are not UTF-8, and what turns the
/// reading direction around are shown as escapes, so that text can neither move the cursor nor pass
/// for something else.
namespace cellblock::cli {

/// One line: newlines and tabs are escaped too.
std::string safe_line(std::string_view text);

/// Newlines and tabs stay.
std::string safe_text(std::string_view text);

}  // namespace cellblock::cli
