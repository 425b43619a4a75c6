#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "policy/config/host_facts.h"
#include "policy/config_check/facts_wanted.h"

/// The host's file behind a command that is named by its path inside the cell.
namespace cellblock {

/// Follows the path through the binds and all links, and judges each descriptor on the way.
CommandFacts look_at_command(const CommandWanted& command, std::span<const uid_t> owners);

/// A program of the host itself, by the same rules; without arguments and digest.
CommandFacts look_at_host_command(const std::string& path, std::span<const uid_t> owners);

}  // namespace cellblock
