#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "policy/config/access_rule.h"

/// What an agent that has read one thing may still send, as the configuration says it: values only.
/// policy/flows decides by them.
namespace cellblock {

/// What becomes of a call that could carry away what was read.
enum class FlowEffect : std::uint8_t { off, log, ask, deny };

/// `[flows]`
struct FlowRules {
  /// For a call that can send, after untrusted content and private data came together.
  FlowEffect trifecta = FlowEffect::off;
  Approver approver = Approver::admin;               ///< ask
  std::chrono::milliseconds approval_time{120'000};  ///< ask: then it is refused
  bool operator==(const FlowRules&) const = default;
};

/// `[server.NAME.flows]`: which tools have a label. None: what its cell permits decides.
struct FlowTools {
  std::optional<std::vector<NamePattern>> untrusted;
  std::optional<std::vector<NamePattern>> private_data;
  std::optional<std::vector<NamePattern>> egress;
  /// Found, not declared: the cell sees only the server's program of the host, which is no private
  /// data.
  bool sees_program_alone = false;
  bool operator==(const FlowTools&) const = default;
};

}  // namespace cellblock
