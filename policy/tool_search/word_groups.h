#pragma once

#include <string_view>

/// Words that people say for what tools call otherwise.
namespace cellblock {

/// The group of a term as stem_of() leaves it: "folder" and "directory" have one. 0: it has none.
unsigned word_group(std::string_view term);

}  // namespace cellblock
