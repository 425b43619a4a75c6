#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/facts_wanted.h"

/// Looks up what the check wants to know: accounts, paths, commands, limits. Blocking; name
/// services may be asked, so before anything is listened on.
namespace cellblock {

/// Everything in HostFacts but config_path, sources, tokens, cgroup, what add_program_facts adds,
/// and what there is to know of credentials and the files of secrets.
HostFacts gather_facts(const FactsWanted& wanted);

/// Of commands and programs, but those whose way leads through one of facts.sources that does not
/// answer. `owners`: who may own commands.
void add_program_facts(const FactsWanted& wanted, std::span<const uid_t> owners, HostFacts& facts);

/// $XDG_CONFIG_HOME, or ~/.config; empty if there is no home.
std::string user_config_home();

/// $HOME, or the account's; empty if there is none.
std::string user_home();

// Empty if there is none.
std::string user_runtime_directory();  ///< $XDG_RUNTIME_DIR
std::string credentials_directory();   ///< $CREDENTIALS_DIRECTORY, systemd.exec(5)

/// Of this kernel; 0: it has no Landlock, or it is not switched on.
std::uint32_t landlock_abi();

}  // namespace cellblock
