#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/redaction/finding.h"

/// JSON text as redaction searches it: its strings in their order, with their escapes undone.
namespace cellblock {

enum class JsonTokenKind : std::uint8_t { key, string, number };

struct JsonToken {
  JsonTokenKind kind = JsonTokenKind::string;
  TextRange where;   ///< strings without their quotes, escapes as they stand there
  TextRange member;  ///< the name of the member whose value it is, or is an element of; or empty
  std::size_t depth = 0;
};

/// The keys, strings and numbers of a JSON text that was found valid, in their order. Of any other
/// text something, and never more than there is.
class JsonTokens {
 public:
  explicit JsonTokens(std::string_view json) : json_(json) {}

  /// False: there are no more.
  bool next(JsonToken& token);

 private:
  enum class Container : std::uint8_t { object, array };
  struct Open {
    Container container;
    TextRange member;
  };

  bool take(char letter, JsonToken& token);
  bool string(JsonToken& token);
  bool number(JsonToken& token);

  std::string_view json_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  TextRange member_;
  bool is_key_next_ = false;
};

// Escapes undone, and where in the escaped text something stands. What is no escape stays as it is:
// nothing is refused here.

enum class Escapes {
  json,     ///< `\n`, `\"`, `\u0041`, surrogate pairs
  percent,  ///< `%41`
};

/// Whether there may be any.
bool has_escapes(std::string_view text, Escapes escapes);

std::string unescape(std::string_view text, Escapes escapes);

/// `found` are places of unescape(text), in order: moved to where they stand in `text`. An escape
/// belongs to all that it is for.
void move_to_escaped(std::string_view text, Escapes escapes, std::vector<Finding>& found);

}  // namespace cellblock
