#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What a bounded result does not have, whole: for a store that lets somebody read on.
namespace cellblock {

enum class PartKind : std::uint8_t {
  text,     ///< of one item, as it reads
  json,     ///< structuredContent
  base64,   ///< of an image, audio or a blob
  several,  ///< items that are left out, one after another: texts as they read, the rest as JSON
};

/// Views into the result that was bounded, so gone when that is.
struct MissingPart {
  struct Piece {
    std::string_view raw;
    bool is_text = false;  ///< a string, to be read; else JSON as it is written
  };

  PartKind kind = PartKind::text;
  std::string mime;  ///< empty: not said
  std::vector<Piece> pieces;

  /// Bytes of text().
  std::size_t size() const;
  /// Its beginning, up to a character's end within `limit` bytes.
  std::string text(std::size_t limit) const;
};

}  // namespace cellblock
