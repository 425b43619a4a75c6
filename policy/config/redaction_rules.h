#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/// What is looked for in what passes between a host and a server, what is done about it, and the
/// marks of secrets.
namespace cellblock {

// Marks: a process recognises a server's secrets by them without knowing them. They are, of each
// line of a secret, in pieces, a keyed digest and 24 bits by which a text is searched for it. A
// reader of the marks can test a guess, and no more: a secret that cannot be guessed stays one
// (docs/decisions/0024).

using MarkKeyBytes = std::array<std::uint8_t, 16>;
using MarkDigest = std::array<std::uint8_t, 16>;

struct SecretMark {
  std::uint32_t secret = 0;  ///< index of the server's secrets
  std::uint8_t length = 0;   ///< of the piece
  std::uint16_t start = 0;   ///< MarkKey::start_tag of its first 8 bytes
  std::uint16_t whole = 0;   ///< MarkKey::whole_tag
  MarkDigest digest{};
  bool operator==(const SecretMark&) const = default;
};

struct SecretMarks {
  MarkKeyBytes key{};
  std::vector<SecretMark> marks;
  bool operator==(const SecretMarks&) const = default;
};

/// In the order of their strictness.
enum class RedactionAction : std::uint8_t {
  off,     ///< not looked for
  log,     ///< passes; counted and recorded
  redact,  ///< replaced by `[redacted: NAME]`
  block,   ///< the whole message does not pass
};

enum class Direction : std::uint8_t { to_server, to_host };

struct RedactionChoice {
  RedactionAction to_server = RedactionAction::off;  ///< arguments, and what a host answers
  RedactionAction to_host = RedactionAction::off;    ///< results, notifications, questions

  RedactionAction in(Direction direction) const {
    return direction == Direction::to_server ? to_server : to_host;
  }
  bool is_off() const { return *this == RedactionChoice{}; }
  bool operator==(const RedactionChoice&) const = default;
};

/// A rule that uses one of detectors.h.
struct DetectorRule {
  std::string detector;
  RedactionChoice choice;
  bool operator==(const DetectorRule&) const = default;
};

/// A rule with the administrator's own expression.
struct ExpressionRule {
  std::string name;
  std::string pattern;  ///< RE2, over UTF-8; the first group, if it has one, is what is found
  RedactionChoice choice;
  bool operator==(const ExpressionRule&) const = default;
};

struct RedactionRules {
  /// The secrets that cellblock gave to this server. That a server hears its own is no leak, but
  /// that its host knows it is worth a record.
  RedactionChoice secrets{RedactionAction::log, RedactionAction::redact};
  std::vector<DetectorRule> detectors;  ///< those that are not off; each once
  std::vector<ExpressionRule> expressions;
  bool operator==(const RedactionRules&) const = default;
};

}  // namespace cellblock
