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

/// What one upstream's calls bring to an agent, and whether they may be made after what it has
/// read. Pure. See docs/flows.md.
namespace cellblock::gateway {

class FlowGate {
 public:
  /// `pins` know the server's annotations.
  FlowGate(const Server& server, FlowContexts& contexts, std::uint64_t session, const PinGate& pins)
      : server_(server), contexts_(contexts), session_(session), pins_(pins) {}

  /// A request that the rules give: it is refused or asked about where that is declared. What is
  /// asked about anyway stays with the rule that asks. `access` is good until the next request.
  void judge(std::string_view line, const Message& message, CallAccess& access);

  /// A call that is made: the labels that are new to its context, as far as anybody wants to know.
  FlowLabels made(CallKind kind, std::string_view name, std::uint64_t call);

  /// Its answer, which the host gets: what `copied` compares with.
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
