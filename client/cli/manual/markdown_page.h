#pragma once

#include <string>
#include <string_view>

namespace cellblock::cli {

/// The body of a manual page from Markdown as docs/ writes it: headings, paragraphs, lists of one
/// level, fenced code, tables, and in a line code, emphasis and links. A table becomes a list of
/// terms: its first column, with what the others are called if they are more than one. The title is
/// left out.
std::string markdown_page(std::string_view markdown);

}  // namespace cellblock::cli
