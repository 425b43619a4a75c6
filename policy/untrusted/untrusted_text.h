#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/result_rules.h"

/// Makes visible, or takes out, what a text of others can have for a model or a terminal and not
/// for a reader. Nothing is judged: the words stay. Pure, one pass, in time in proportion to the
/// text.
namespace cellblock {

struct MarkCounts {
  std::uint64_t hidden = 0;    ///< characters that are not seen
  std::uint64_t terminal = 0;  ///< control characters; with `strip`, whole terminal sequences
  std::uint64_t tokens = 0;    ///< of chat templates

  bool any() const { return hidden + terminal + tokens > 0; }
  bool operator==(const MarkCounts&) const = default;
};

/// `text`: UTF-8, or what JSON's escapes make of half a surrogate pair, which stays as it is. With
/// `mark`: `<U+200B>` for a character, `<and 12 more>` after eight of them in a row, and
/// `<token im_start>` for a token; the text grows to at most nine times its size. With `strip`
/// nothing stands for it, and what remains has no token either. Counts into `counts`. nullopt:
/// there is nothing of that in the text.
std::optional<std::string> marked_text(std::string_view text, UntrustedText how,
                                       MarkCounts& counts);

}  // namespace cellblock
