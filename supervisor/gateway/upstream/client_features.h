#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/config/config.h"

/// What a server may ask of the host's client. The server is not told of a capability that it may
/// not use, and a request that it sends anyway goes no further.
namespace cellblock::gateway {

bool server_may_request(std::string_view method, const ClientFeatures& features);

/// The client's capabilities without those that the server may not use; nothing if they may stay as
/// they are. `capabilities` is a validated JSON object.
std::optional<std::string> strip_capabilities(std::string_view capabilities,
                                              const ClientFeatures& features);

/// Whether a host with these capabilities (raw JSON) can ask its user by a form.
bool can_elicit(std::string_view capabilities);

}  // namespace cellblock::gateway
