#pragma once

#include <cstddef>
#include <string_view>

/// Tells invisible characters (is_hidden() of printable.h) that an ordinary text needs from hidden
/// ones: they are part of an emoji, or stand between letters of a script that joins letters. Pure.
namespace cellblock {

/// `rest` begins with an invisible character; `before`: the character before it, 0 at the beginning
/// of the text. Returns the number of bytes that the text needs there; 0: it does not need the
/// character.
std::size_t ordinary_use(char32_t before, std::string_view rest);

}  // namespace cellblock
