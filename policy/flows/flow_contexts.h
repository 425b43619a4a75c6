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

/// The contexts of one user's agents, and what each has read. Pure: events and times are arguments.
///
/// Sessions with the same context belong together: the agent knows in all of them what one has
/// read. A label stays until the context's end.
namespace cellblock {

/// The call that first brought a label.
struct FlowOrigin {
  std::string server;
  std::string name;  ///< of the tool or prompt, or a resource's URI: cut, printable
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
  std::string_view arguments;  ///< JSON; for a read or a prompt, all of its parameters
};

/// The strictest rule about a call.
struct FlowVerdict {
  FlowRule rule;
  std::string why;  ///< one sentence
};

class FlowContexts {
 public:
  static constexpr std::size_t most = 64;
  static constexpr std::size_t longest_name = 128;  ///< of FlowOrigin::name, in bytes
  /// A context stays so long after its last session has gone, since hosts reconnect.
  static constexpr std::chrono::minutes lingers{10};

  explicit FlowContexts(const FlowRules& rules) : rules_(rules) {}

  const FlowRules& rules() const { return rules_; }

  enum class Entry : std::uint8_t {
    fresh,    ///< a session that begins
    resumed,  ///< one that goes on after another gateway: what it has read is not known
  };
  /// Beyond `most` contexts a session joins the unnamed one, and later contexts begin with the
  /// unnamed one's labels, since one of them may be the session's own. `person`: the session's
  /// user; nullopt: every rule binds it.
  void join(std::uint64_t session, std::string_view context, Entry entry, Instant now,
            std::optional<FlowPerson> person = std::nullopt);
  void leave(std::uint64_t session, Instant now);

  /// Adds the labels that a call brings; returns those that are new to its context.
  FlowLabels take(const FlowStep& step, FlowLabels brings);

  /// Adds the text of an answer with these labels, JSON that the host gets. Does nothing without a
  /// rule that has `copied`.
  void read(std::uint64_t session, FlowLabels brings, std::string_view json);

  /// nullopt: no rule applies to the call.
  std::optional<FlowVerdict> judge(const FlowCall& call) const;

 private:
  struct Context {
    FlowLabels labels;
    std::array<FlowOrigin, 2> origins;  ///< by FlowLabel: untrusted, private_data
    std::size_t sessions = 0;
    std::optional<Instant> left;      ///< when the last session left; nullopt: none has left yet
    bool has_others = false;          ///< has sessions for whose own contexts there was no room
    std::array<CopiedText, 2> texts;  ///< by FlowLabel, if a rule with `copied` needs them
    FlowLabels unread;                ///< labels of texts that are not in `texts`
  };
  struct Member {
    std::string context;
    std::optional<FlowPerson> person;
  };
  class Repeats;
  Context& context_of(std::uint64_t session);
  const Context* known_context(std::uint64_t session) const;
  const FlowPerson* person_of(std::uint64_t session) const;
  static std::string reason(const Context& context, const FlowRule& rule, FlowLabels of_call);
  Context& begun(const std::string& name);
  void forget_old(Instant now);

  const FlowRules& rules_;
  std::map<std::string, Context, std::less<>> contexts_;
  std::map<std::uint64_t, Member> members_;  ///< by session
};

}  // namespace cellblock
