#pragma once

#include <optional>

#include "policy/config/config.h"
#include "policy/config_check/bind_check.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/table_text.h"

namespace cellblock {

/// `workspace` of a server. `scope` is the server's. What the host has no directory for, or only
/// through a link, is a warning; what keeps the server from starting is in `found` as well.
std::optional<Workspace> check_workspace(const Scope& scope, const ServerText& text,
                                         const PathsAround& around, PathFindings& found);

}  // namespace cellblock
