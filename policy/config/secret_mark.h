#pragma once

#include <array>
#include <cstdint>
#include <vector>

/// By these a process recognises a server's secrets in a text without knowing them: of each line of
/// a secret, in pieces, a keyed digest and 24 bits by which a text is searched for it. Whoever
/// reads the marks can test a guess, and no more: a secret that cannot be guessed stays one
/// (docs/decisions/0024).
namespace cellblock {

using MarkKeyBytes = std::array<std::uint8_t, 16>;
using MarkDigest = std::array<std::uint8_t, 16>;

struct SecretMark {
  std::uint32_t secret = 0;  ///< index of the server's secrets
  std::uint8_t length = 0;   ///< of the piece
  std::uint16_t start = 0;   ///< MarkKey::start_tag of its first 8 bytes
  std::uint16_t whole = 0;   ///< MarkKey::whole_tag
  MarkDigest digest{};
  bool operator==(const SecretMark&) const = default;
};

struct SecretMarks {
  MarkKeyBytes key{};
  std::vector<SecretMark> marks;
  bool operator==(const SecretMarks&) const = default;
};

}  // namespace cellblock
