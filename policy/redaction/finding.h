#pragma once

#include <cstddef>
#include <cstdint>

namespace cellblock {

/// [begin, end) of a text, in bytes.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool empty() const { return begin >= end; }
  bool operator==(const TextRange&) const = default;
};

/// Something that was looked for.
struct Finding {
  TextRange where;
  std::uint32_t what = 0;  ///< an index; whose, is said by who found it
  bool operator==(const Finding&) const = default;
};

}  // namespace cellblock
