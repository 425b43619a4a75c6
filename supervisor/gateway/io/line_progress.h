#pragma once

#include <cstddef>
#include <cstdint>

namespace cellblock::gateway {

/// How far a stream of lines has come.
struct LineProgress {
  std::uint64_t lines = 0;  ///< with something in them, those that were too long included
  bool has_begun = false;   ///< there is a part of a line
  std::size_t skipped = 0;  ///< bytes of a line that is too long, since it was told to be
};

}  // namespace cellblock::gateway
