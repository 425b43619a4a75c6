#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellblock/types.h"

/// @file
/// Results that fit into a model's context: what is too large is cut into a valid result that says
/// what it lacks. The gateway does the same by the administrator's policy; this is the host's own.
///
/// Threads: any; nothing is shared. Time and memory in proportion to the result.
namespace cellblock::client {

/// The request that the result answers.
enum class ResultShape : std::uint8_t {
  tool_call,      ///< tools/call, tasks/result
  resource_read,  ///< resources/read
  prompt,         ///< prompts/get
};

/// In bytes of UTF-8, as a model gets them. The defaults are the gateway's.
struct ResultBounds {
  std::uint64_t max_bytes = 40'000;  ///< of all texts; structuredContent has as much for itself
  std::uint64_t max_item_bytes = 40'000;       ///< of one text
  std::uint64_t max_media_bytes = 6ULL << 20;  ///< of images, audio and blobs, in base64
  std::uint64_t max_items = 1'000;             ///< blocks, contents or messages
  std::size_t keep_bytes = 0;  ///< how much of each part that is left out is in `withheld`
  /// Told to the model as the way to read on in what is kept; empty: that there is none. The parts
  /// are `uri` and "/1", "/2", ...; `reader` is a tool of the host's, with the arguments `uri` and
  /// `offset`.
  std::string uri = {};
  std::string reader = {};  ///< as `uri` says
};

/// The least that max_bytes and max_item_bytes may be: below it the notes have no room.
inline constexpr std::uint64_t least_result_bytes = 2'048;

/// What a result does not say any more, in the order of its numbers.
struct WithheldPart {
  std::uint64_t bytes = 0;  ///< of the whole
  std::string text = {};    ///< its beginning, cut between two characters
  std::string mime = {};    ///< empty: not said
};

/// A result that fits, and what it lacks.
struct BoundedResult {
  std::string json = {};  ///< a valid result; where nothing was left out, as the server wrote it
  std::string text = {};  ///< its texts, joined by newlines. Untrusted
  bool is_error = false;  ///< the tool says so; or structuredContent that a schema wants is missing
  bool is_bounded = false;  ///< something was left out; `_meta["cellblock/bounded"]` says what
  std::size_t tokens = 0;   ///< of `text`, roughly
  std::vector<WithheldPart> withheld = {};  ///< as far as ResultBounds::keep_bytes keeps it
};

/// invalid_argument: bounds below the least, or `json` is no JSON object.
///@{
CELLBLOCK_CLIENT_API Result<BoundedResult> bounded(std::string_view json, ResultShape shape,
                                                   const ResultBounds& bounds = {});
CELLBLOCK_CLIENT_API Result<BoundedResult> bounded(const ToolResult& result,
                                                   const ResultBounds& bounds = {});
///@}

/// What so many bytes cost in a model's context, roughly: for a budget, not for a bill.
CELLBLOCK_CLIENT_API std::size_t token_estimate(std::size_t bytes);

/// Up to `limit` bytes of a text from `offset`, both moved down to where a character begins; empty:
/// there is no more. For a host's tool that reads on.
CELLBLOCK_CLIENT_API std::string_view page_of(std::string_view text, std::size_t offset,
                                              std::size_t limit);

}  // namespace cellblock::client
