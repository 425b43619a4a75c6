#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "policy/rates/call_slots.h"
#include "supervisor/gateway/checks/approval_gate.h"
#include "supervisor/gateway/checks/kept_results.h"
#include "supervisor/gateway/checks/pin_gate.h"
#include "supervisor/gateway/checks/redaction_gate.h"
#include "supervisor/gateway/checks/user_policy.h"
#include "supervisor/os/clock.h"

/// What a host's request passes between the rules of access and the server. Pure.
namespace cellblock::gateway {

class KeptResults;

/// One request that the rules of access allow. Valid during the call.
struct HostRequest {
  std::string_view line;
  const Message& message;
  Time now;
  CallWaiter& waiter;  ///< for its place
};

/// What a request goes on with.
struct AdmittedRequest {
  std::vector<Replacement> edits;  ///< of its line; none overlaps what ids and values are put into
  CallSlot place;                  ///< until it is answered; while that waits, it may not be sent
};

/// What the gate of one upstream knows. What it refers to outlives the upstream: what is
/// kept of a user belongs to the gateway, what is kept of a session to that.
struct GateParts {
  const Server& server;
  UserPolicy& policy;
  std::uint32_t server_index = 0;  ///< in the configuration
  std::uint64_t session = 0;
  std::uint64_t cell = 0;
  KeptResults* kept = nullptr;  ///< the session's; null: what is left out of results is lost
  ReadingTool reading_tool = ReadingTool::not_listed;
  /// Whether the host would hear of a changed list of tools now; empty: it would not.
  std::function<bool()> hears_tool_changes{};
  bool bounds_results = true;  ///< false: what is said is cellblock's own
  PinGate pins{};
};

/// Why a call has no place among those in flight, or waited for one in vain.
Failure busy_failure(const Busy& busy, const Server& server, std::string_view tool);

class RequestGate {
 public:
  explicit RequestGate(const GateParts& parts)
      : parts_(parts), redaction_(parts.policy.redactions, parts.server_index, parts.server) {}

  /// What does not go on is answered with the failure.
  std::expected<AdmittedRequest, Failure> pass(const HostRequest& request);
  /// What the redaction of the last request found.
  FoundCounts take_found() { return redaction_.take_found(); }
  /// What of its arguments may stand in the audit log.
  ArgumentText argument_text(std::string_view params) {
    return parts_.policy.argument_texts.of(parts_.server_index, params);
  }
  /// Asks for the approval of a request that has passed. Error: no approver exists.
  std::expected<Approval, Failure> ask(const AskedCall& call);
  /// What an administrator types to decide about it.
  std::string approval_id(const Approval& approval) const {
    return parts_.policy.approvals.id_of(approval.entry());
  }
  /// What the host says that its user has said.
  void answered_by_host(const Approval& approval, Approvals::Word word, Time now);

 private:
  std::expected<CallSlot, Failure> place_for(const HostRequest& request);

  const GateParts parts_;
  RedactionGate redaction_;
};

}  // namespace cellblock::gateway
