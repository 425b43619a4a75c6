#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cellblock/export.h"
#include "cellblock/language.h"

/// @file
/// What the host program lets its model do, decided before anything leaves the library.
///
/// This protects the user from the model. It does not protect the servers from the host: the daemon
/// decides what a user may do at all, whatever the host's rules say.
///
/// The rules apply to `tools/call`, `resources/read`, `prompts/get` and everything else that a
/// server acts upon; not to the handshake, lists, `ping`, log levels and cellblock's own requests.
/// They apply whichever function of the library makes the request.
namespace cellblock::client {

/// Stricter ones are greater: of all that is said about a request, the strictest counts.
enum class Verdict : std::uint8_t { allow, ask, deny };

/// What a request is about. `other` is named by its method.
enum class CallKind : std::uint8_t { tool, resource, prompt, other };

/// A request that has not been sent yet. Its texts may come from a model or a server: escape them
/// before they are shown. `params` are exactly the bytes that will be sent.
struct CallToApprove {
  std::string server =
      {};  ///< as it was attached; empty: all as one, where names are `SERVER__NAME`
  CallKind kind = CallKind::other;  ///< which of the names `name` is
  std::string method = {};          ///< "tools/call"
  std::string name = {};       ///< of the tool or prompt, the URI of the resource, else the method
  std::string arguments = {};  ///< of a tool or prompt: JSON as it stands in `params`; else empty
  std::string params = {};     ///< a JSON object
  std::string reason = {};     ///< to the approval handler: why it is asked; may be empty
};

/// The caller of the request gets `reason`; for an `ask`, the approval handler does.
struct Decision {
  Verdict verdict = Verdict::deny;  ///< what happens to the request
  std::string reason = {};          ///< may be empty

  /// One function for each verdict.
  ///@{
  static Decision allow() { return {.verdict = Verdict::allow}; }
  static Decision ask(std::string why = {}) { return {Verdict::ask, std::move(why)}; }
  static Decision deny(std::string why = {}) { return {Verdict::deny, std::move(why)}; }
  ///@}
};

/// About requests of one kind. Names are compared as bytes, as the model says them.
struct PermissionRule {
  std::string server = {};         ///< as it was attached; empty: whichever
  CallKind kind = CallKind::tool;  ///< which requests
  std::string name = "*";          ///< exact, or a beginning and `*`
  Verdict verdict = Verdict::ask;  ///< what happens to them
  std::string reason = {};         ///< told with it; may be empty
};

/// What is let through, asked about and denied.
struct PermissionRules {
  std::vector<PermissionRule> rules = {};  ///< in any order: the strictest that applies decides
  Verdict otherwise = Verdict::allow;      ///< where none does
};

/// Asked about every such request, after the rules. Runs inside the function that makes the
/// request, so it must not call into the session, nor wait. The strictest of rules and handler
/// counts.
using PermissionHandler = std::function<Decision(const CallToApprove& call)>;

/// Takes a person's answer. Copies share one answer: the first one counts, and the last copy that
/// is destroyed without one denies. From any thread, at any time. After the end of the call or the
/// session it has no effect. `ask` is no answer, and denies.
class CELLBLOCK_CLIENT_API ApprovalAnswer {
 public:
  struct Impl;  ///< the library's own
  /// The library's own: hosts are handed one.
  explicit ApprovalAnswer(std::shared_ptr<Impl> impl);

  /// Decides.
  void operator()(Decision decision) const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// Asks a person: where the host's own rules say so, and where a rule of the administrator's wants
/// the user's word (the gateway asks then, by an elicitation that no server can write; `params` is
/// empty, `reason` the question, `arguments` empty if longer than 64 KiB). Runs on the executor;
/// the answer may be given at once or later, from any thread. The call's deadline begins when it is
/// sent, and after a question of the gateway anew; until then Options::approval_timeout holds, and
/// cancelling works.
using ApprovalHandler = std::function<void(const CallToApprove& call, ApprovalAnswer answer)>;

/// For who can answer on the spot (a terminal, a test): the session waits meanwhile.
inline ApprovalHandler answered_at_once(std::function<Decision(const CallToApprove&)> decide) {
  return [decide = std::move(decide)](const CallToApprove& call, const ApprovalAnswer& answer) {
    answer(decide(call));
  };
}

}  // namespace cellblock::client
