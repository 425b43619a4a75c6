#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/redaction/finding.h"

/// What cellblock knows to look for.
namespace cellblock {

enum DetectorSet : std::uint8_t { credentials_set = 1, pii_set = 2, phi_set = 4 };

/// What an expression has matched.
struct DetectorMatch {
  std::string_view text;  ///< all of it, for what stands around
  TextRange whole;
  TextRange group;  ///< the first group that matched; without one, the whole

  std::string_view found() const { return text.substr(group.begin, group.end - group.begin); }
};

/// What of a match is the finding; empty: it is none. Time in proportion to the answer, or bounded.
using Refine = TextRange (*)(const DetectorMatch& match);

struct Detector {
  std::string_view name;
  std::uint8_t sets;  ///< of DetectorSet
  /// RE2, over bytes. Without `^` and `$`: it is also asked of whole messages, for whether anything
  /// in them can match; so what a label and its value have between them is `\W+`,
  /// the first one of the expression, outside of all groups.
  std::string pattern;
  Refine refine;  ///< null: the group as it is
};

/// All of them, in one order.
std::vector<const Detector*> all_detectors();
/// Null: there is none.
const Detector* find_detector(std::string_view name);

}  // namespace cellblock
