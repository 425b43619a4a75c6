#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellblock/error.h"
#include "client/cli/tool_rows/list_kind.h"

/// The words of a typed line, and what the word before the cursor may become.
namespace cellblock::cli {

/// A typed line as words: '…' and "…" keep white space together, a backslash keeps the next
/// character. Where a word begins with `{` it is the rest of the line as it is: JSON has quotes of
/// its own. invalid_argument, if a quote does not end.
client::Result<std::vector<std::string>> split_words(std::string_view line);

/// What comes next on that line: a command, one of fixed words, or a name from one of the lists.
struct Expected {
  std::vector<std::string> words;
  std::optional<ListKind> list;
};
Expected expected_after(std::string_view before_cursor);

/// The word that is being typed.
std::string_view last_word(std::string_view before_cursor);

/// The names that begin with the word. Names that a terminal would not show as they are, or that
/// would need quotes, are left out.
std::vector<std::string> candidates(const std::vector<std::string>& names, std::string_view word);

/// How far all of them agree.
std::string common_beginning(const std::vector<std::string>& names);

}  // namespace cellblock::cli
