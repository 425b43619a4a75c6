#pragma once

#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

namespace cellblock {

/// `${client.…}` in a key where nothing fills it in: the server would get those very characters.
void refuse_placeholders(const Scope& scope, const ServerText& text);

}  // namespace cellblock
