#pragma once

#include <string>
#include <string_view>

#include "supervisor/egress/proxy_step.h"

/// SOCKS5's part of proxy_request.h.
namespace cellblock::egress {

ProxyStep read_socks_greeting(std::string_view received);
ProxyStep read_socks_request(std::string_view received);
std::string socks_success();
std::string socks_refusal(wire::EgressReason reason);

}  // namespace cellblock::egress
