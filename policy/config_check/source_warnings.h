#pragma once

#include <vector>

#include "policy/config/config.h"
#include "policy/config/server_people.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

namespace cellblock {

/// Warns of declared paths that cells of `people` cannot use as declared, with whose cells and the
/// remedy. `server` has its identity, and the ownership of its binds.
void warn_of_sources(const Scope& scope, const ServerText& text, const Server& server,
                     const std::vector<Person>& people, const Identity& identity);

}  // namespace cellblock
