#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "policy/config.h"
#include "policy/facts_wanted.h"
#include "policy/host_facts.h"

/// Looks up what the check wants to know: accounts, paths, commands, limits. Blocking; name
/// services may be asked, so before anything is listened on.
namespace cellblock {

/// Everything in HostFacts but config_path, bad_secrets and cgroup. `owners`: who may own commands.
HostFacts gather_facts(const FactsWanted& wanted, std::span<const uid_t> owners);

/// $XDG_CONFIG_HOME, or ~/.config; empty if there is no home.
std::string user_config_home();

}  // namespace cellblock
