#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

/// What JSON parsers disagree about: numbers, halves of surrogate pairs, keys that stand twice.
/// Each is refused where it would be read in two ways.
namespace cellblock {

// Numbers are checked by their text, without a value: cellblock forwards the digits as they are.

/// Longer ones are refused: some parsers take quadratic time for them.
inline constexpr std::size_t max_number_length = 256;

/// `text` is one number of RFC 8259, section 6, of at most max_number_length bytes, and of a
/// magnitude that a double has: `1e400` is an error to some parsers and infinity to others.
bool is_json_number(std::string_view text);

/// A plain integer of at most 2^53-1 in magnitude: what every JSON parser keeps exactly. Not `-0`,
/// `1.0` or `1e2`, which some parsers turn into another spelling.
bool is_exact_integer(std::string_view text);

/// Whether a JSON string spells half of a surrogate pair (`"\ud800"`): Python keeps it, JavaScript
/// keeps it, others replace or refuse it, so two parsers would see two names. `raw` is the inside
/// of a string whose escapes are otherwise valid. simdjson 3.0 lets some of these through.
bool has_lone_surrogate(std::string_view raw);

/// The keys of the objects that are open at this point of a scan, one stack for all of them. Finds
/// duplicates by sorting, not by hashing, so that no choice of keys makes it slow.
class OpenKeys {
 public:
  using Mark = std::size_t;

  void clear();

  Mark open() const { return keys_.size(); }
  /// `key` is unescaped and stays valid until its object is closed.
  void add(std::string_view key) { keys_.push_back(key); }
  /// Forgets the keys since `mark` and says whether they were all different.
  bool close_distinct(Mark mark);

 private:
  std::vector<std::string_view> keys_;
};

}  // namespace cellblock
