#pragma once

#include <cstddef>
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

/// How many it takes: every character counts as one.
std::size_t columns_of(std::string_view safe);

/// At most that many columns, ending in "…" where something is missing. 0: the whole.
std::string cut_to(std::string_view safe, std::size_t columns);

/// Lines of at most that many columns, broken at spaces; all but the first begin with `indent`
/// blanks. A word that is longer stays whole. 0: as it is.
std::string wrapped(std::string_view safe, std::size_t columns, std::size_t indent);

/// The width of the terminal on stdout; 0 if stdout is no terminal, or its width is not known.
std::size_t terminal_width();
/// The same of stderr.
std::size_t error_width();

/// The content of a tool's result for reading: text as it is, other blocks named ("[image
/// image/png, 1024 bytes of base64]"), structured content where there is nothing else. Untrusted.
std::string content_text(std::string_view result_json);

}  // namespace cellblock::cli
