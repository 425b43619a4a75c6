#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/audit/chain.h"
#include "policy/base/result.h"
#include "policy/encoding/ed25519.h"

/// Anchors of the audit log with a signature, one a line: `SEQ:HASH TIME KEY SIGNATURE`. KEY says
/// which key signed (VerifyingKey::id()), SIGNATURE is base64 and covers all that stands before it.
/// Pure.
namespace cellblock::audit {

struct SignedAnchor {
  ChainPoint point;
  std::string time;  ///< when it was signed: 2026-11-28T07:48:59Z
  std::string line;  ///< without its newline
};

/// `time`: in UTC, as SignedAnchor has it.
Result<SignedAnchor> sign_anchor(const ChainPoint& point, const std::string& time,
                                 const SigningKey& key);

struct AnchorProblem {
  std::uint64_t line = 0;  ///< from 1
  std::string what;
  bool operator==(const AnchorProblem&) const = default;
};

/// What a file of signed anchors holds.
struct SignedAnchors {
  std::vector<SignedAnchor> anchors;  ///< whose signature is good, in the order of their lines
  std::vector<AnchorProblem> problems;
};

/// Checks each line of `text`: that the key has signed it, and that no anchor is before the one
/// above it. A text without an anchor is a problem too.
SignedAnchors check_signed_anchors(std::string_view text, const VerifyingKey& key);

/// Whether the text's first line has more than an anchor without a signature has.
bool has_signed_anchors(std::string_view text);

}  // namespace cellblock::audit
