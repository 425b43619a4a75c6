#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/result_rules.h"

/// Marks or removes what a model or a terminal acts on and a reader does not see: invisible
/// characters, terminal sequences, tokens of chat templates. The words stay; nothing is judged.
/// Pure, one pass, in time in proportion to the text.
namespace cellblock {

struct MarkCounts {
  std::uint64_t hidden = 0;    ///< characters that are not seen
  std::uint64_t terminal = 0;  ///< control characters; with `strip`, whole terminal sequences
  std::uint64_t tokens = 0;    ///< of chat templates

  bool any() const { return hidden + terminal + tokens > 0; }
  bool operator==(const MarkCounts&) const = default;
};

/// `text`: UTF-8, or half a surrogate pair from JSON's escapes, which stays as it is. `mark` writes
/// `<U+200B>` for a character, `<and 12 more>` after eight of them in a row, and `<token im_start>`
/// for a token; the text grows to at most nine times its size. `strip` removes them; removing joins
/// what stood around them, so the text that is left is searched for tokens, too. Adds to `counts`.
/// nullopt: the text has none of them.
std::optional<std::string> marked_text(std::string_view text, UntrustedText how,
                                       MarkCounts& counts);

}  // namespace cellblock
