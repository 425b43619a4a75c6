#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "supervisor/gateway/message/json_tree.h"

/// How the bridges come to a revision (policy/mcp/revisions.h) with whom they speak to.
namespace cellblock::gateway {

/// What `initialize` is answered with: the host's own where it is a legacy one, else the newest.
std::string_view answer_to_version(std::string_view asked);

/// The newest legacy revision of `error.data.supported`; nothing if there is none.
std::optional<std::string> legacy_among_supported(const Json& error);

}  // namespace cellblock::gateway
