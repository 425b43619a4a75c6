#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/redaction_rules.h"
#include "policy/redaction/detectors.h"
#include "policy/redaction/finding.h"

namespace cellblock {

/// What an expression matches must be seen within so many bytes; what it matches may be longer.
inline constexpr std::size_t farthest_match = 2048;
inline constexpr std::size_t longest_pattern = 1024;

/// What is wrong with an admin's expression: none that RE2 reads, one that matches nothing at all,
/// or one that is too large. An error has the sentence for its author.
Result<void> check_pattern(const std::string& pattern);

/// Searches texts for detectors and expressions. What it takes is in proportion to the text,
/// however hostile that is. Unchanging, so that many may use one.
class Scanner {
 public:
  /// Names of detectors, and expressions that check_pattern() found nothing wrong with.
  static Result<std::shared_ptr<const Scanner>> compile(
      std::span<const std::string> detectors, std::span<const ExpressionRule> expressions);
  ~Scanner();
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  /// One pass. False: the text has no finding, nor has a part of it between quotation marks, nor
  /// the unescaped value of a JSON member. True is not certain: refinement may drop what an
  /// expression matches.
  bool may_find(std::string_view text) const;
  /// In no order; findings of two detectors may overlap. `Finding::what`: the detectors, then the
  /// expressions, as compile() was given them.
  void find(std::string_view text, std::vector<Finding>& found) const;
  /// The same for the value of a member, which its name may be the label of.
  void find_in_member(std::string_view name, std::string_view value,
                      std::vector<Finding>& found) const;

 private:
  struct Pattern;
  class Bundle;
  Scanner();

  std::unique_ptr<Bundle> detectors_;
  std::unique_ptr<Bundle> expressions_;
};

}  // namespace cellblock
