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

/// A call that a rule gives, and that somebody has to approve first. Pure.
namespace cellblock::gateway {

/// Whether a call of this method may wait for an approval; what may not is refused.
bool may_wait_for_approval(std::string_view method);

/// As whoever decides: the host says what its user has said.
inline constexpr std::uint32_t by_host = UINT32_MAX;

/// Of one call. Gone when the call returns.
struct AskedCall {
  const Rule& rule;
  std::string_view method;
  const std::string& name;  ///< of what it is about
  std::string_view text;    ///< as the server will get it, a message
  ApprovalWaiter& waiter;
  Time now;
};

/// Of whom the call is.
struct Asker {
  const Server& server;
  Approvals& approvals;
  std::uint32_t server_index = 0;
  std::uint64_t session = 0;
  std::uint64_t cell = 0;
  std::int32_t pid = 0;
};

/// What it waits for. An error: nobody is asked.
std::expected<Approval, Failure> ask_for(const Asker& asker, const AskedCall& call);

/// Why it is not made: it was denied, or its time is over.
Failure not_approved(const Approval& approval, const Server& server);

/// It was allowed, and what it names is not what it was when somebody was asked.
Failure changed_since_asked(const Message& request, const Server& server);

/// The rules ask about it now, or ask somebody else.
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
