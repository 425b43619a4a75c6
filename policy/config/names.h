#pragma once

#include <string>
#include <string_view>

#include "policy/config/config.h"

/// The words that the TOML, the reports and the protocol have for values.
namespace cellblock {

/// [a-z][a-z0-9-]{0,62}: of servers and profiles.
bool is_short_name(std::string_view name);

std::string_view name_of(NetworkMode network);     ///< "egress"
std::string_view name_of(SyscallProfile profile);  ///< "python"
std::string_view name_of(WriteExec write_exec);    ///< "refused"
std::string_view name_of(HomeKind home);           ///< "temporary"
std::string_view name_of(ServerEra era);           ///< "auto"
std::string_view name_of(PinMode pin);             ///< "tofu"

/// The profile as the server names it, the admin's own too.
std::string_view profile_name(const SyscallRules& rules);

/// A profile's default. Node and browsers compile JavaScript while they run.
WriteExec default_write_exec(SyscallProfile base);

/// "127.0.0.1:8377" or "[::1]:8377"; empty: not on TCP.
std::string tcp_address(const HttpListen& http);

/// "own", "client", or the user's name.
std::string_view run_as_name(const RunAs& run_as);

}  // namespace cellblock
