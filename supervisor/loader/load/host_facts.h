#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/facts_wanted.h"

/// Looks up the facts that the check needs: accounts, paths, commands, limits. Blocking: may ask
/// name services, so call it before any socket listens.
namespace cellblock {

/// Everything in HostFacts but config_path, sources, tokens, cgroup, credentials, files of secrets,
/// and the facts of add_program_facts().
HostFacts gather_facts(const FactsWanted& wanted);

/// Adds the facts of commands and programs, except paths through one of facts.sources that does not
/// answer. `owners`: uids that may own commands.
void add_program_facts(const FactsWanted& wanted, std::span<const uid_t> owners, HostFacts& facts);

/// $XDG_CONFIG_HOME, or ~/.config; empty if there is no home.
std::string user_config_home();

/// $HOME, or the account's; empty if there is none.
std::string user_home();

// Empty if the variable is not set.
std::string user_runtime_directory();  ///< $XDG_RUNTIME_DIR
std::string credentials_directory();   ///< $CREDENTIALS_DIRECTORY, systemd.exec(5)

/// The Landlock ABI of this kernel; 0: no Landlock, or it is not enabled.
std::uint32_t landlock_abi();

}  // namespace cellblock
