#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

/// Whether a text repeats another, by fingerprints of bounded size. Pure.
///
/// Two kinds. Passages, by winnowing over letters and digits alone: of two texts that have
/// `sure_passage` of them in common, one is found. And words that carry information by themselves:
/// addresses, hosts, paths, long identifiers and numbers, whole and in their parts. A paraphrase is
/// not found.
namespace cellblock {

inline constexpr std::size_t passage_size = 24;   ///< letters and digits of one fingerprint
inline constexpr std::size_t passage_window = 9;  ///< of so many in a row, one is kept
inline constexpr std::size_t sure_passage = passage_size + passage_window - 1;

using FingerprintVisitor = std::function<void(std::uint64_t)>;

/// Each once or several times. In time in proportion to the text.
void for_each_fingerprint(std::string_view text, const FingerprintVisitor& visit);

/// What was read, as its fingerprints.
class CopiedText {
 public:
  /// About 300 KiB of prose; 1 MiB of memory.
  static constexpr std::size_t most = std::size_t{1} << 16;

  /// All texts in a JSON value.
  void add_json(std::string_view json);
  /// Whether any text in a JSON value may repeat one that was added. True of each when is_full().
  bool is_in_json(std::string_view json) const;

  /// Not all that was read is known here.
  bool is_full() const { return is_full_; }
  std::size_t size() const { return size_; }

 private:
  bool has(std::uint64_t fingerprint) const;
  void add(std::uint64_t fingerprint);
  void grow();
  void put(std::uint64_t fingerprint);

  std::vector<std::uint64_t> slots_;  ///< 0: free. A power of two, at most half of them taken
  std::size_t size_ = 0;
  bool is_full_ = false;
};

}  // namespace cellblock
