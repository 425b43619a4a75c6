#include "policy/results/withheld.h"

#include <algorithm>

#include "policy/json/json_text.h"

namespace cellblock {

std::size_t MissingPart::size() const {
  std::size_t size = 0;
  for (const Piece& piece : pieces) {
    size += piece.is_text ? decoded_size(piece.raw) : piece.raw.size();
    if (kind == PartKind::several) ++size;
  }
  return size;
}

std::string MissingPart::text(std::size_t limit) const {
  std::string text;
  text.reserve(std::min(limit, size()));  // exactly: it is kept
  for (const Piece& piece : pieces) {
    const std::size_t room = limit - text.size();
    if (piece.is_text) {
      append_decoded(text, piece.raw, room);
    } else {
      text.append(piece.raw, 0, character_boundary(piece.raw, room));
    }
    if (kind == PartKind::several && text.size() < limit) text += '\n';
  }
  return text;
}

}  // namespace cellblock
