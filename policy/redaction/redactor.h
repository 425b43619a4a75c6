#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/redaction_rules.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "policy/redaction/finding.h"
#include "policy/redaction/scanner.h"
#include "policy/redaction/secret_finder.h"

namespace cellblock {

/// How often what was found, by name: `card`, `GITHUB_TOKEN`. Never the text itself.
using FoundCounts = std::map<std::string, std::uint64_t, std::less<>>;

/// "card 2, email 1"; empty: nothing.
std::string counts_text(const FoundCounts& found);

/// What is to be done about one message.
struct Redaction {
  FoundCounts found;
  bool is_blocked = false;         ///< then nothing else counts
  std::vector<Replacement> edits;  ///< in their order; none overlaps another
};

/// What one server's messages are searched for. Unchanging.
class Redactor {
 public:
  /// Compiled scanners by what they look for: servers that look for the same have one.
  using Scanners = std::map<std::string, std::shared_ptr<const Scanner>>;

  struct Parts {
    const RedactionRules& rules;
    const SecretMarks& marks;
    std::vector<std::string> secrets;  ///< their names, by index
  };
  /// An error: an expression that check_pattern() would have refused.
  static Result<Redactor> make(Parts parts, Scanners& scanners);

  /// False: nothing is looked for that way, and nothing that is asked below costs anything.
  bool watches(Direction direction) const { return side(direction).is_watched(); }

  /// A validated line. `spared`, in their order: what stands there is left alone, because it is the
  /// protocol's or is replaced anyway. A line in which nothing can be found costs a pass or two.
  Redaction of_message(Direction direction, std::string_view line, const Message& message,
                       std::span<const Span> spared) const;
  /// A piece of JSON that was written here; places are those in it. The value of a member `spared`
  /// of its outermost object is left alone.
  Redaction of_json(Direction direction, std::string_view json, std::string_view spared) const;
  /// As of_json(), for JSON that no peer waits for: each of its texts is checked.
  Redaction of_each_text(Direction direction, std::string_view json) const;
  /// Plain text. `block` acts as `redact`, since no peer waits for it. Counts into `found`.
  std::string of_text(Direction direction, std::string_view text, FoundCounts& found) const;

 private:
  struct Rule {
    std::string name;
    RedactionAction action;
  };
  struct Side {
    RedactionAction secrets = RedactionAction::off;
    std::shared_ptr<const Scanner> scanner;  ///< null: nothing but secrets
    std::vector<Rule> rules;                 ///< by what the scanner finds

    bool is_watched() const { return scanner != nullptr || secrets != RedactionAction::off; }
  };
  class Walk;

  Redactor(const SecretMarks& marks, std::vector<std::string> secrets)
      : finder_(marks), secrets_(std::move(secrets)) {}
  static Result<Side> make_side(const RedactionRules& rules, Direction direction,
                                Scanners& scanners);

  const Side& side(Direction direction) const {
    return direction == Direction::to_server ? to_server_ : to_host_;
  }
  bool may_find(const Side& side, std::string_view json) const;

  SecretFinder finder_;
  std::vector<std::string> secrets_;
  Side to_server_;
  Side to_host_;
};

}  // namespace cellblock
