#pragma once

#include <string>

#include "policy/config/config.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::gateway {

/// What came of a look at a home, or of clearing it, as cellblock/home answers (docs/protocol.md).
std::string home_json(const Server& server, wire::HomeAction action, const wire::HomeFacts& facts);

}  // namespace cellblock::gateway
