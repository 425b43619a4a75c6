#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "policy/redaction/finding.h"

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

}  // namespace cellblock
