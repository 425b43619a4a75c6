#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/gateway/search/listed_tools.h"

namespace cellblock::gateway {

/// Whether a tool of that server is listed as itself. `name`: the server's own.
bool is_always_listed(const Server& server, std::string_view name);
/// `shown`: as it stands in the list of all servers. A name that had to be shortened is known again
/// where the pattern is exact.
bool is_always_listed(const Config& config, std::string_view shown);

/// Whose tools are in the list of all servers, in its order.
std::vector<std::string> servers_in(const ListedTools& listed);

}  // namespace cellblock::gateway
