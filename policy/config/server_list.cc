#include "policy/config/server_list.h"

#include <algorithm>
#include <string>
#include <utility>

namespace cellblock {

std::optional<std::uint32_t> server_index(const Config& config, std::string_view name) {
  const auto found = std::ranges::find_if(config.servers, [name](const Server& server) {
    return !server.removed && server.name == name;
  });
  if (found == config.servers.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - config.servers.begin());
}

namespace {

// Who hears it knows which server it is about.
std::string without_prefix(std::string cause, const std::string& name) {
  const std::string prefix = "server." + name + ".";
  if (cause.starts_with(prefix)) cause.erase(0, prefix.size());
  return cause;
}

}  // namespace

void leave_out(Server& server, Breakage why) {
  server.breakage = std::move(why);
  server.breakage.cause = without_prefix(std::move(server.breakage.cause), server.name);
  server.secrets.clear();
  server.secret_marks = {};
  server.owner_mounts.clear();
}

}  // namespace cellblock
