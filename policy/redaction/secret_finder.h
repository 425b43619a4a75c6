#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

#include "policy/redaction/finding.h"
#include "policy/redaction/secret_marks.h"

namespace cellblock {

/// Finds secrets by their marks: verbatim, in base64 (either alphabet, at any offset, across line
/// breaks), in hexadecimal digits of either case, URL-escaped and JSON-escaped. Linear in the
/// text's length.
class SecretFinder {
 public:
  explicit SecretFinder(const SecretMarks& marks);

  bool is_empty() const { return marks_.empty(); }

  /// Whether find() would find any.
  bool occurs_in(std::string_view text) const;
  /// In no order; they may overlap. `Finding::what` is the index of the secret.
  void find(std::string_view text, std::vector<Finding>& found) const;

 private:
  class Search;
  class Base64Search;

  MarkKey key_;
  std::bitset<MarkKey::tags> starts_;  ///< the start tags that some mark has
  std::vector<SecretMark> marks_;      ///< by start tag, and of these the longest first
};

}  // namespace cellblock
