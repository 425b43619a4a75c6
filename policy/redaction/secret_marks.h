#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "policy/config/config_bytes.h"
#include "policy/config/redaction_rules.h"

/// The making of marks (policy/config/redaction_rules.h), and what becomes of them in a reload.
namespace cellblock {

/// A shorter one cannot be told from ordinary text: it is not looked for.
inline constexpr std::size_t shortest_marked = 8;
/// Bound for one secret; the bytes beyond are not looked for.
inline constexpr std::size_t most_marked_bytes = 16U << 10;
/// A longer line is looked for piece by piece, each at least half as long: so it is found in parts,
/// and comparing one takes a bounded time.
inline constexpr std::size_t longest_piece = 63;

/// What a piece is compared by.
class MarkKey {
 public:
  static constexpr unsigned tag_bits = 12;
  static constexpr std::size_t tags = std::size_t{1} << tag_bits;

  explicit MarkKey(const MarkKeyBytes& key);

  /// From eight bytes, the first of them the most significant.
  std::uint16_t start_tag(std::uint64_t word) const {
    return static_cast<std::uint16_t>((word * start_) >> (64 - tag_bits));
  }
  /// `piece` has 8 bytes or more.
  std::uint16_t whole_tag(std::string_view piece) const;
  /// `piece` has at most `longest_piece` bytes.
  MarkDigest digest(std::string_view piece) const;

 private:
  MarkKeyBytes key_;
  std::uint64_t start_;
  std::uint64_t whole_;
};

/// The first eight bytes of `text`, as start_tag() takes them.
std::uint64_t first_word(std::string_view text);

/// `values` are wiped by who holds them; nothing of them is kept here. `key` is random.
SecretMarks mark_secrets(std::span<const std::string> values, const MarkKeyBytes& key);

/// Whether nothing of this secret is long enough to be looked for.
bool is_too_short_to_mark(std::string_view secret);

// Secrets and marks in a reload, where the new configuration was merged with the one in use. Pure.

/// `secrets` of `fresh`, each at the place that its server has in `merged`; moved, not copied.
Secrets in_places_of(const Config& merged, const Config& fresh, Secrets secrets);

/// Marks have a random key, so a secret that is what it was has others. Where all values of a
/// server are the ones that `used` was marked by, its marks are taken over.
void keep_marks(const Config& used, Config& fresh, const Secrets& secrets);

}  // namespace cellblock
