#pragma once

#include <string>
#include <string_view>

/// Pages of docs/ as manual pages.
namespace cellblock::cli {

/// Text as man shows it letter by letter: a backslash, and a dot or quote at the beginning of a
/// line, mean something to man; a hyphen that is typed is no hyphen of a word.
std::string roff(std::string_view text);

/// Lines as they are, in a block of their own; empty for none.
std::string roff_block(std::string_view text);

/// The body of a manual page from Markdown as docs/ writes it: headings, paragraphs, lists of one
/// level, fenced code, tables, and in a line code, emphasis and links. A table becomes a list of
/// terms: its first column, with what the others are called if they are more than one. The title is
/// left out.
std::string markdown_page(std::string_view markdown);

}  // namespace cellblock::cli
