#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cli/table/words.h"
#include "policy/audit/chain.h"
#include "policy/audit/log_verifier.h"
#include "policy/audit/signed_anchor.h"
#include "policy/base/result.h"
#include "policy/encoding/ed25519.h"

/// The files of `cellblock audit verify`: keys, and the anchors of earlier checks.
namespace cellblock::cli {

struct AnchorKeys {
  std::optional<SigningKey> signing;      ///< --sign
  std::optional<VerifyingKey> verifying;  ///< --public-key, or the public half of the other
};

/// An error names the file. Another user's way to a private key is one.
Result<AnchorKeys> anchor_keys_in(const Words& words);

/// What the log is compared with.
struct KnownAnchors {
  std::vector<audit::ChainPoint> points;     ///< in the log's order
  std::vector<audit::SignedAnchor> anchors;  ///< of the file, that the key has signed
  std::vector<audit::Finding> findings;      ///< lines of the file that prove nothing
};

/// --anchor, --anchor-file or nothing. A file that is not there yet holds nothing, unless only its
/// signatures are asked for.
Result<KnownAnchors> known_anchors_in(const Words& words, const AnchorKeys& keys);

/// Writes `line` in place of what the file has, or below the newest lines of `above`. The file
/// changes as a whole or not at all.
Result<void> keep_anchor(const std::string& path, const std::vector<audit::SignedAnchor>& above,
                         const std::string& line);

}  // namespace cellblock::cli
