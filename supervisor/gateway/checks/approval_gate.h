#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "policy/approvals/approvals.h"
#include "policy/config/access_rule.h"
#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/os/clock.h"

/// A call that a rule allows after an approval. Pure.
namespace cellblock::gateway {

/// Whether a call of this method may wait for an approval; what may not is refused.
bool may_wait_for_approval(std::string_view method);

/// The uid recorded for a decision that the host reports as its user's.
inline constexpr std::uint32_t by_host = UINT32_MAX;

/// One call to be approved. Valid during the call.
struct AskedCall {
  const Rule& rule;
  std::string_view method;
  const std::string& name;  ///< of what it is about
  std::string_view text;    ///< as the server will get it, a message
  ApprovalWaiter& waiter;
  Time now;
};

/// The caller.
struct Asker {
  const Server& server;
  Approvals& approvals;
  std::uint32_t server_index = 0;
  std::uint64_t session = 0;
  std::uint64_t cell = 0;
  std::int32_t pid = 0;
};

/// The approval that the call waits for. Error: no approver exists.
std::expected<Approval, Failure> ask_for(const Asker& asker, const AskedCall& call);

/// Why it is not made: it was denied, or its time is over.
Failure not_approved(const Approval& approval, const Server& server);

/// The call was approved, but the definition it names has changed since the approval was asked for.
Failure changed_since_asked(const Message& request, const Server& server);

/// The rules now ask about the call, or ask another approver.
Failure asked_otherwise(const Server& server);
/// Other redaction rules hold than when its text was looked through.
Failure redacted_otherwise(const Server& server);

/// The user is to be asked, and cannot be: in the legacy era for want of a host that can, in the
/// modern one, where a host is asked by answers, for want of a way.
Failure nobody_to_ask(const Rule& rule, const Server& server, Era era);

/// For the audit log: "allowed by uid 0", "denied by uid 0", "expired".
std::string outcome_of(const Approval& approval);

/// What the user is asked through the host, in one text: all that the server will get with
/// the call, bounded as that is, and escaped for any display.
std::string question_text(const Approval& approval, const Server& server);

}  // namespace cellblock::gateway
