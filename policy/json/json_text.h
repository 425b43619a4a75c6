#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Validated JSON as it is written: its members, elements and strings, found without a tree or a
/// copy, so that a text of 50 MB is measured and cut in place. In time in proportion to the text;
/// in text that is not valid less is found, and nothing outside of it.
namespace cellblock {

struct RawMember {
  std::string name;        ///< unescaped
  std::string_view key;    ///< as it is written, quotes included
  std::string_view value;  ///< as it is written
};

/// What stands in an object, in its order; nullopt: it is none, or not valid.
std::optional<std::vector<RawMember>> raw_members(std::string_view object);

/// As raw_members(), of an array.
std::optional<std::vector<std::string_view>> raw_elements(std::string_view array);

/// Null: there is none with that name.
const RawMember* find_member(const std::vector<RawMember>& members, std::string_view name);

bool is_raw_string(std::string_view value);

/// 0: a scalar; 1: an object or array of scalars.
std::size_t depth_of(std::string_view value);

class JsonStringPieces {
 public:
  /// `raw`: a string, quotes included. Of anything else there are no pieces.
  explicit JsonStringPieces(std::string_view raw);

  /// UTF-8; empty at the end. Valid until the next one. A character is never in two pieces.
  std::string_view next();

 private:
  std::string_view take_escape();

  std::string_view rest_;
  std::array<char, 4> character_{};
};

/// All of it.
std::string decoded(std::string_view raw);
std::size_t decoded_size(std::string_view raw);
/// Appends the beginning, up to the last character that ends within `limit` bytes.
void append_decoded(std::string& text, std::string_view raw, std::size_t limit);

struct Ends {
  std::string head;
  std::string tail;
  std::size_t total = 0;  ///< bytes of the whole
};

/// The first and the last characters of a string of more than `head` + `tail` bytes: at most so
/// many bytes each, and whole lines where there is a line end in the last (first) quarter.
Ends ends_of(std::string_view raw, std::size_t head, std::size_t tail);

/// The greatest length up to `most` at which `text` can be cut between two characters.
std::size_t character_boundary(std::string_view text, std::size_t most);

/// As a JSON string with its quotes; bytes that are not UTF-8 are replaced.
std::string json_quoted(std::string_view text);

}  // namespace cellblock
