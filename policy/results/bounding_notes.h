#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/result_rules.h"
#include "policy/results/result_items.h"

/// The words in which a bounded result says what it lacks, and how that is read.
namespace cellblock {

// What was left out, whole: for a store from which it can be read later.

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
  /// The beginning, up to the end of a character within `limit` bytes.
  std::string text(std::size_t limit) const;
};

/// The kept copies of what is left out.
struct KeptParts {
  std::string uri;                 ///< of the whole; its parts are uri + "/1" ...; empty: nothing
  std::vector<std::size_t> bytes;  ///< of each part: its beginning; missing: none
  std::string reader;              ///< the tool that reads on; empty: only resources/read does
  std::string life;                ///< "30 minutes", or empty
};

/// A part and what is kept of it. `number` counts from 0.
struct PartPlace {
  const KeptParts& kept;
  std::size_t number = 0;
  std::size_t size = 0;

  std::string uri() const { return kept.uri + "/" + std::to_string(number + 1); }
  std::size_t kept_bytes() const {
    return kept.uri.empty() || number >= kept.bytes.size() ? 0 : kept.bytes[number];
  }
};

/// No note is longer than note_room.
std::string cut_note(std::size_t missing, std::size_t offset, const PartPlace& place);
std::string media_note(const ResultItem& item, const PartPlace& place);
std::string items_note(std::size_t left_out, std::size_t of, const PartPlace& place);
std::string structured_note(std::string_view why, const PartPlace& place);
std::string no_object_note(const PartPlace& place);

/// A JSON-RPC error (validated JSON, raw) that says too much, with a shorter message and without
/// its data, or another one where it is no object; nullopt: it is within the bounds. Nothing of it
/// is kept: it says what went wrong.
std::optional<std::string> bounded_error(std::string_view error, const ResultBounds& bounds);

}  // namespace cellblock
