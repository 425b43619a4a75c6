#pragma once

#include <cstddef>
#include <string_view>

namespace cellblock {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  ///< in bytes; 0: what is there is no UTF-8
};

/// The first character of `text`, which is not empty. Overlong forms, surrogates and values above
/// U+10FFFF are no UTF-8.
CodePoint first_code_point(std::string_view text);

}  // namespace cellblock
