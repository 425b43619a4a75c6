#pragma once

#include <cstdint>

#include "policy/approvals/approvals.h"
#include "policy/config/config.h"
#include "policy/flows/flow_contexts.h"
#include "policy/rates/call_slots.h"
#include "supervisor/gateway/checks/argument_texts.h"
#include "supervisor/gateway/checks/redaction_gate.h"
#include "supervisor/gateway/checks/refusal_reports.h"
#include "supervisor/gateway/io/held_bytes.h"

namespace cellblock::gateway {

/// What policy keeps of one user for as long as the user's gateway lives: longer than any session.
struct UserPolicy {
  /// `last_approval`: behind it the numbers of approvals begin.
  explicit UserPolicy(const Config& config, std::uint64_t last_approval = 0)
      : places(config),
        approvals(last_approval),
        flows(config.flows),
        redactions(config),
        argument_texts(config),
        refusal_reports(config) {}

  /// The configuration has changed: what was made of it is made anew.
  void reconfigure() {
    places.reconfigure();
    redactions.reconfigure();
    argument_texts.reconfigure();
    refusal_reports.reconfigure();
  }

  CallSlots places;
  Approvals approvals;
  FlowContexts flows;
  Redactions redactions;
  ArgumentTexts argument_texts;
  RefusalReports refusal_reports;
  HeldBytes held;  ///< of all sessions
  /// Of all sessions: lists of tools that a search fetches page by page. Servers write them, so
  /// they have a budget of their own, and no session ends because of them. The largest list fits.
  HeldBytes lists{128U << 20};
};

}  // namespace cellblock::gateway
