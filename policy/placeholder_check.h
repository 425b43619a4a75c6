#pragma once

#include "policy/server_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// `${client.…}` in a key where nothing fills it in: the server would get those very characters.
void refuse_placeholders(const Scope& scope, const ServerText& text);

}  // namespace cellblock
