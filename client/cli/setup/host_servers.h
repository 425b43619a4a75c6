#pragma once

#include <string>
#include <vector>

#include "client/cli/common/context.h"
#include "client/cli/setup/setup_plan.h"

namespace cellblock::cli {

/// The files of this user's hosts, those of projects left out, with the servers that they start
/// without cellblock and that cellblock does not have. What cannot be read is left out, and said.
std::vector<HostServers> servers_of_hosts(const Context& context, const std::string& home);

/// Whether one of those files is there.
bool has_host_files(const std::string& home);

/// The servers that the user's own cellblock declares, by name.
std::vector<std::string> declared_servers_of(const Context& context);

}  // namespace cellblock::cli
