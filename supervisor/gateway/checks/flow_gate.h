#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "policy/flows/flow_contexts.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/checks/call_access.h"
#include "supervisor/gateway/checks/pin_gate.h"
#include "supervisor/gateway/message/calls_in_flight.h"

/// Applies the flow rules to one upstream's calls: the labels that they bring, and whether they may
/// be made after what the agent has read. Pure. See docs/flows.md.
namespace cellblock::gateway {

class FlowGate {
 public:
  /// `pins` has the server's annotations.
  FlowGate(const Server& server, FlowContexts& contexts, std::uint64_t session, const PinGate& pins)
      : server_(server), contexts_(contexts), session_(session), pins_(pins) {}

  /// Adds the flow verdict to `access` of a request that the access rules permit: a refusal or an
  /// approval. An approval that an access rule wants stays with that rule. `access` is valid until
  /// the next request.
  void judge(std::string_view line, const Message& message, CallAccess& access);

  /// Notes a call that is made. Returns the labels that are new to its context; none if no flow
  /// rule is on.
  FlowLabels made(CallKind kind, std::string_view name, std::uint64_t call);

  /// Adds the answer that the host gets to the texts that `copied` compares with.
  void answered(CallKind kind, std::string_view name, std::string_view line);

 private:
  FlowLabels labels_of(CallKind kind, std::string_view name) const;
  void add_annotated(std::string_view tool, FlowLabels& labels) const;

  const Server& server_;
  FlowContexts& contexts_;
  std::uint64_t session_;
  const PinGate& pins_;
  Rule asks_;
  std::string rule_;  ///< that decided last
};

}  // namespace cellblock::gateway
