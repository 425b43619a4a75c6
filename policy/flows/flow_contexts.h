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
#include "policy/flows/tool_labels.h"
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
  void join(std::uint64_t session, std::string_view context, Entry entry, Instant now);
  void leave(std::uint64_t session, Instant now);

  /// Those labels that are new to its context.
  FlowLabels take(const FlowStep& step, FlowLabels brings);

  /// Why a call with these labels could carry away what was read: one sentence. None: it could not.
  std::optional<std::string> trifecta(std::uint64_t session, FlowLabels of_call) const;

 private:
  struct Context {
    FlowLabels labels;
    std::array<FlowOrigin, 2> origins;  ///< by FlowLabel: untrusted, private_data
    std::size_t sessions = 0;
    std::optional<Instant> left;  ///< by the last session; none: no session has left it yet
    bool has_others = false;      ///< sessions that had no room for their own
  };
  Context& context_of(std::uint64_t session);
  Context& begun(const std::string& name);
  void forget_old(Instant now);

  const FlowRules& rules_;
  std::map<std::string, Context, std::less<>> contexts_;
  std::map<std::uint64_t, std::string> names_;  ///< of the sessions' contexts
};

}  // namespace cellblock
