#pragma once

#include <string>
#include <string_view>

#include "supervisor/egress/proxy_step.h"

/// HTTP's part of proxy_request.h.
namespace cellblock::egress {

ProxyStep read_http_request(std::string_view received);
std::string http_success();
std::string http_refusal(wire::EgressReason reason);

}  // namespace cellblock::egress
