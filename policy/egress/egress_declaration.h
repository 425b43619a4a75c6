#pragma once

#include <string>
#include <string_view>

#include "policy/config/config.h"

/// Which rules of `egress.allow` may be declared, and which may be proposed to an administrator:
/// `check` and all advice ask here, so that no advice is refused when it is followed.
namespace cellblock {

/// Why a rule that can be read is refused all the same, with what is allowed instead. Empty: it may
/// be declared. `written`: the rule as its author spelled it.
std::string declaration_problem(const EgressRule& rule, std::string_view written);

struct EgressProposal {
  std::string rule;  ///< an entry of egress.allow; empty: none is proposed
  std::string why;   ///< where `rule` is empty: the reason
};

/// The rule that allows `target`: "name:port", "10.0.0.1:port" or "[fd00::1]:port". Addresses that
/// a range may name but that are nobody's service (multicast, reserved), or that hand out
/// credentials (link-local, cloud metadata), are not proposed. Pure.
EgressProposal propose_egress_rule(std::string_view target);

}  // namespace cellblock
