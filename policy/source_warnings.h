#pragma once

#include <vector>

#include "policy/config.h"
#include "policy/server_people.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// Warns of declared paths that cells of `people` cannot use as declared, with whose cells and the
/// remedy. `server` has its identity, and the ownership of its binds.
void warn_of_sources(const Scope& scope, const ServerText& text, const Server& server,
                     const std::vector<Person>& people, const Identity& identity);

}  // namespace cellblock
