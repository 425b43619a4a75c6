#include "policy/base/printable.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/base/hidden_characters.h"
#include "policy/base/utf8.h"

namespace cellblock {
namespace {

struct Piece {
  std::string text;
  std::size_t consumed = 0;
};

Piece escaped_byte(char byte) {
  return {fmt::format("\\x{:02x}", static_cast<unsigned char>(byte)), 1};
}

Piece first_piece(std::string_view rest) {
  const CodePoint point = first_code_point(rest);
  const bool control = point.value < 0x20 || point.value == 0x7F;
  if (point.length == 0 || control) return escaped_byte(rest.front());
  if (is_hidden(point.value)) {
    return {fmt::format("\\u{{{:x}}}", static_cast<unsigned>(point.value)), point.length};
  }
  return {std::string{rest.substr(0, point.length)}, point.length};
}

}  // namespace

std::string printable(std::string_view bytes, std::size_t limit) {
  std::string text;
  text.reserve(std::min(bytes.size(), limit));
  while (!bytes.empty()) {
    const Piece piece = first_piece(bytes);
    if (text.size() + piece.text.size() > limit) {
      return text + fmt::format("…[{} more bytes]", bytes.size());
    }
    text += piece.text;
    bytes.remove_prefix(piece.consumed);
  }
  return text;
}

}  // namespace cellblock
