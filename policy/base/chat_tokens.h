#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// The tokens by which the templates of chat models tell turns, instructions and results of tools
/// apart. A text that has them can pass for more than a text. docs/results.md lists them.
namespace cellblock {

/// The length of the token that `text` ends with; 0: it ends with none. Looks at a bounded number
/// of bytes. "Human:" and "Assistant:" are tokens at the beginning of a text or after an empty
/// line.
std::size_t chat_token_at_end(std::string_view text);

/// False: no token ends with this character.
constexpr bool may_end_chat_token(char last) { return last == '>' || last == ']' || last == ':'; }

/// The first token of a text; nullopt: it has none.
std::optional<std::string_view> first_chat_token(std::string_view text);

/// What stands for a token, and is none: "<token im_start>" for "<|im_start|>".
std::string chat_token_shown(std::string_view token);

}  // namespace cellblock
