#pragma once

#include <string>
#include <string_view>

#include "policy/base/result.h"
#include "policy/config/config.h"

/// One entry of `egress.allow`: read, judged, and proposed.
namespace cellblock {

/// "api.example.org", "api.example.org:8443", "*.example.org", "203.0.113.0/24:5432",
/// "[2001:db8::]/32:443"; without a port 443. The error says
/// what is allowed.
Result<EgressRule> parse_egress_rule(std::string_view text);

/// As it is written in the TOML, with its port.
std::string text_of(const EgressRule& rule);

// `check` and all advice ask here which rules may be declared and which may be proposed, so that no
// advice is refused when it is followed.

/// Why a rule that can be read is refused all the same, with what is allowed instead. Empty: it may
/// be declared. `written`: the rule as its author spelled it.
std::string declaration_problem(const EgressRule& rule, std::string_view written);

struct EgressProposal {
  std::string rule;  ///< an entry of egress.allow; empty: none is proposed
  std::string why;   ///< where `rule` is empty: the reason
};

/// The rule that allows `target`: "name:port", "10.0.0.1:port" or "[fd00::1]:port". Not proposed
/// are addresses that a range may name but that offer no service (multicast, reserved), or that
/// hand out credentials (link-local, cloud metadata). Pure.
EgressProposal propose_egress_rule(std::string_view target);

}  // namespace cellblock
