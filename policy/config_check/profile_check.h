#pragma once

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/config_text.h"

/// `[profile.NAME]`, and `profile` and `write_exec` of a server.
namespace cellblock {

using Profiles = ByName<SyscallRules>;

/// The profiles that a server can name: native, node, python, browser, and the administrator's own.
Profiles check_profiles(Complaints& complaints, const ConfigText& main);

/// `scope` is the server's.
SyscallRules check_syscalls(const Scope& scope, const ServerText& text, NetworkMode network,
                            const Profiles& profiles);

}  // namespace cellblock
