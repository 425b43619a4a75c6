#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/flow_rules.h"
#include "policy/flows/copied_text.h"
#include "policy/flows/rule_match.h"
#include "policy/rates/token_bucket.h"

/// What the agents of one user have read. Pure: what happens and when is handed in.
///
/// Sessions with the same context belong together: what one of them has read, the agent knows in
/// all of them. Nothing takes a label away but the context's end.
namespace cellblock {

/// What has brought a label first.
struct FlowOrigin {
  std::string server;
  std::string name;  ///< of the tool or prompt, or a resource's URI: its beginning, printable
  std::uint64_t session = 0;
  std::uint64_t call = 0;
};

/// A call or read that was made.
struct FlowStep {
  std::uint64_t session = 0;
  std::uint64_t call = 0;
  std::string_view server;
  std::string_view name;
};

/// A call that is about to be made.
struct FlowCall {
  std::uint64_t session = 0;
  FlowTarget target;
  std::string_view arguments;  ///< JSON; of a read or a prompt all that it says
};

/// What the strictest rule says of a call.
struct FlowVerdict {
  FlowRule rule;
  std::string why;  ///< one sentence
};

class FlowContexts {
 public:
  static constexpr std::size_t most = 64;
  static constexpr std::size_t longest_name = 128;  ///< of what brought a label, in bytes
  /// After the last session of a context has gone: hosts come back.
  static constexpr std::chrono::minutes lingers{10};

  explicit FlowContexts(const FlowRules& rules) : rules_(rules) {}

  const FlowRules& rules() const { return rules_; }

  enum class Entry : std::uint8_t {
    fresh,    ///< a session that begins
    resumed,  ///< one that goes on after another gateway: what it has read nobody knows any more
  };
  /// Beyond `most` contexts a session is in the one that has no name, and contexts that begin
  /// afterwards have read what that one has: one of them may be the session's own.
  /// `person`: whose session it is; unknown: every rule binds it.
  void join(std::uint64_t session, std::string_view context, Entry entry, Instant now,
            std::optional<FlowPerson> person = std::nullopt);
  void leave(std::uint64_t session, Instant now);

  /// Those labels that are new to its context.
  FlowLabels take(const FlowStep& step, FlowLabels brings);

  /// An answer with these labels that is handed on, as JSON. Costs nothing without a rule that has
  /// `copied`.
  void read(std::uint64_t session, FlowLabels brings, std::string_view json);

  /// nullopt: no rule is about it.
  std::optional<FlowVerdict> judge(const FlowCall& call) const;

 private:
  struct Context {
    FlowLabels labels;
    std::array<FlowOrigin, 2> origins;  ///< by FlowLabel: untrusted, private_data
    std::size_t sessions = 0;
    std::optional<Instant> left;      ///< by the last session; none: no session has left it yet
    bool has_others = false;          ///< sessions that had no room for their own
    std::array<CopiedText, 2> texts;  ///< by FlowLabel, as far as rules ask for them
    FlowLabels unread;                ///< labels that came with texts which are not in `texts`
  };
  struct Member {
    std::string context;
    std::optional<FlowPerson> person;
  };
  Context& context_of(std::uint64_t session);
  const Context* known_context(std::uint64_t session) const;
  const FlowPerson* person_of(std::uint64_t session) const;
  static bool may_repeat(const Context& context, const FlowRule& rule, std::string_view arguments);
  static std::string reason(const Context& context, const FlowRule& rule, FlowLabels of_call);
  Context& begun(const std::string& name);
  void forget_old(Instant now);

  const FlowRules& rules_;
  std::map<std::string, Context, std::less<>> contexts_;
  std::map<std::uint64_t, Member> members_;  ///< by session
};

}  // namespace cellblock
