#pragma once

#include <optional>
#include <vector>

#include "policy/bind_check.h"
#include "policy/config.h"
#include "policy/host_facts.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

namespace cellblock {

/// `workspace` of a server. `scope` is the server's. What the host has no directory for, or only
/// through a link, is a warning.
std::optional<Workspace> check_workspace(const Scope& scope, const ServerText& text,
                                         const std::vector<ProtectedPath>& protected_paths,
                                         const HostFacts& facts);

}  // namespace cellblock
