#pragma once

#include <string>
#include <string_view>

#include "policy/base/result.h"
#include "policy/config/config.h"

/// One entry of `egress.allow`.
namespace cellblock {

/// "api.example.org", "api.example.org:8443", "*.example.org", "203.0.113.0/24:5432",
/// "[2001:db8::]/32:443"; without a port 443. The error says
/// what is allowed.
Result<EgressRule> parse_egress_rule(std::string_view text);

/// As it would be written, with its port.
std::string text_of(const EgressRule& rule);

}  // namespace cellblock
