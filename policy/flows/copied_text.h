#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

/// Decides whether a text may repeat another, by fingerprints of bounded size. Pure.
///
/// There are two kinds of fingerprints. Passages, by winnowing over letters and digits alone: a
/// common passage of `sure_passage` letters and digits is always found. And words that carry
/// information by themselves: addresses, hosts, paths, long identifiers and numbers, whole and in
/// their parts. A paraphrase is not found.
namespace cellblock {

inline constexpr std::size_t passage_size = 24;   ///< letters and digits of one fingerprint
inline constexpr std::size_t passage_window = 9;  ///< of these in a row, the least is kept
inline constexpr std::size_t sure_passage = passage_size + passage_window - 1;

using FingerprintVisitor = std::function<void(std::uint64_t)>;

/// Visits each fingerprint once or several times, in time proportional to the text.
void for_each_fingerprint(std::string_view text, const FingerprintVisitor& visit);

/// The fingerprints of the texts that were read.
class CopiedText {
 public:
  /// About 300 KiB of prose; 1 MiB of memory.
  static constexpr std::size_t most = std::size_t{1} << 16;

  /// Adds all texts in a JSON value.
  void add_json(std::string_view json);
  /// Whether any text in a JSON value may repeat an added one. Always true when is_full().
  bool is_in_json(std::string_view json) const;

  /// Some fingerprints were not added for lack of room.
  bool is_full() const { return is_full_; }
  std::size_t size() const { return size_; }

 private:
  bool has(std::uint64_t fingerprint) const;
  void add(std::uint64_t fingerprint);
  void grow();
  void put(std::uint64_t fingerprint);

  /// 0: free. Their number is a power of two, at most half of them are taken.
  std::vector<std::uint64_t> slots_;
  std::size_t size_ = 0;
  bool is_full_ = false;
};

}  // namespace cellblock
