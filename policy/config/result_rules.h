#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

/// How much of a result is handed on, and how much of the rest is kept. Values only, for gateway
/// and client library alike: policy/results/bounded_result.h makes a result of that size.
namespace cellblock {

enum class Bounding : std::uint8_t {
  on,
  off,  ///< results pass whole: a choice that `cellblock status` names
};

/// What becomes of invisible characters, terminal sequences and tokens of chat templates in results
/// of tools with the label `untrusted`.
enum class UntrustedText : std::uint8_t {
  pass,
  mark,   ///< made visible
  strip,  ///< taken out
};

/// In bytes of UTF-8, as the reader of the result gets them: a text counts unescaped, with the JSON
/// around it.
struct ResultBounds {
  Bounding bounding = Bounding::on;
  /// Bound of all text that a model reads; structuredContent, which repeats it for programs, has
  /// the same again. About 10,000 tokens: at or below where hosts cut by themselves (Codex: the
  /// same, without a way to read on; Claude Code: 50,000 characters; Gemini CLI: 40,000).
  std::uint64_t max_bytes = 40'000;
  std::uint64_t max_item_bytes = 40'000;  ///< of one text
  /// Bound of images, audio and blobs together, in base64: hosts count these in pictures, not in
  /// bytes, and models take up to 5 MB of one.
  std::uint64_t max_media_bytes = 6ULL << 20;
  std::uint64_t max_items = 1'000;
  std::uint32_t max_depth = 64;  ///< of structuredContent and of unknown members
  UntrustedText untrusted = UntrustedText::pass;

  bool operator==(const ResultBounds&) const = default;
};

/// The least that max_bytes and max_item_bytes may be: below it the notes have no room.
inline constexpr std::uint64_t least_result_bytes = 2'048;

/// No message is nested more deeply (jsonrpc.h), so as a bound it is none.
inline constexpr std::uint32_t deepest_result = 64;

/// Whether a result of so many bytes of JSON may be over one of the bounds. If not, there is
/// nothing to look at: no text is longer than the JSON that spells it, nothing that is an item is
/// spelled with less than ten bytes, no level with less than two.
inline bool may_exceed(std::size_t bytes, const ResultBounds& bounds) {
  if (bounds.bounding == Bounding::off) return false;
  std::uint64_t least = std::min(
      {bounds.max_bytes, bounds.max_item_bytes, bounds.max_media_bytes, bounds.max_items * 10});
  if (bounds.max_depth < deepest_result) least = std::min<std::uint64_t>(least, bounds.max_depth);
  return bytes > least;
}

/// What a text costs in a model's context, roughly: tokenizers take 3 to 5 bytes of English or of
/// code for one token, and 2 to 3 of most other scripts. Meant for a budget, not for a bill.
constexpr std::size_t token_estimate(std::size_t bytes) { return (bytes + 3) / 4; }

struct ToolResults {
  std::string name;
  ResultBounds bounds;
  bool operator==(const ToolResults&) const = default;
};

struct ServerResults {
  ResultBounds bounds;
  std::vector<ToolResults> tools;  ///< sorted by name: those that differ
  bool operator==(const ServerResults&) const = default;
};

/// How much of what is left out is kept, to be read on.
struct ResultKeeping {
  std::uint32_t most = 64;                      ///< results, of one session; 0: nothing is kept
  std::uint64_t bytes = 64ULL << 20;            ///< of one session
  std::uint64_t bytes_per_user = 256ULL << 20;  ///< of all sessions of one user
  std::chrono::milliseconds age{3'600'000};
  bool operator==(const ResultKeeping&) const = default;
};

/// `tool` empty: of what is no tool's.
const ResultBounds& bounds_of(const ServerResults& results, std::string_view tool);

/// Whether any result of the server may be bounded.
bool bounds_any(const ServerResults& results);

}  // namespace cellblock
