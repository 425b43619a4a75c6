#include "policy/config/find_server.h"

#include <algorithm>

namespace cellblock {

std::optional<std::uint32_t> server_index(const Config& config, std::string_view name) {
  const auto found = std::ranges::find_if(config.servers, [name](const Server& server) {
    return !server.removed && server.name == name;
  });
  if (found == config.servers.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - config.servers.begin());
}

}  // namespace cellblock
