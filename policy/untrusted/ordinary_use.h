#pragma once

#include <cstddef>
#include <string_view>

/// Characters that are not seen (is_hidden() of printable.h) where ordinary texts need them: within
/// an emoji, and between letters of scripts that join them. Pure.
namespace cellblock {

/// `rest` begins with such a character; `before` is the character before it, 0 at the beginning of
/// the text. How many bytes from there on are in ordinary use; 0: the character is not.
std::size_t ordinary_use(char32_t before, std::string_view rest);

}  // namespace cellblock
