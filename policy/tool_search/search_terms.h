#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Text as the terms that a search compares: without case, English endings and punctuation.
namespace cellblock {

inline constexpr std::size_t max_term_bytes = 40;  ///< a longer word is cut
inline constexpr std::size_t max_query_terms = 24;

/// `readTextFiles2`, `read_text_files-2` and "Read text files (2)" are all {"read", "text", "file",
/// "2"}. A character that is written without spaces (from U+2E80 on) is a term by itself. At most
/// `most` terms, in time in proportion to the text; what is no UTF-8 is read byte by byte.
std::vector<std::string> terms_of(std::string_view text, std::size_t most);

/// A word of lower-case letters without its English ending: "creates", "creating" and "created"
/// are one term.
std::string stem_of(std::string word);

/// Terms of a question, each once, without words that are in every question ("how do I ..."), but
/// with them where there are no others.
std::vector<std::string> query_terms(std::string_view words);

// Groups of words with one meaning: people ask for "folder" where a tool says "directory".

/// The group of a term as stem_of() leaves it: "folder" and "directory" have one. 0: it has none.
unsigned word_group(std::string_view term);

}  // namespace cellblock
