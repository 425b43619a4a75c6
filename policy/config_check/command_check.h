#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

/// `command` of a server.
namespace cellblock {

/// "is a directory"; none: it can be executed.
std::optional<std::string> why_it_will_not_start(CommandState state);

/// What makes the command unsafe is an error; what merely makes this one server fail is a warning,
/// since the others shall run, and starting it says the same with the exact step.
std::vector<std::string> check_command(const Scope& scope, const ServerText& text,
                                       const HostFacts& facts, PathFindings& found);

}  // namespace cellblock
