#include "supervisor/daemon/run/gateway_request.h"

#include <algorithm>
#include <string>

#include "policy/sandbox/client_placeholders.h"
#include "supervisor/daemon/load/accounts.h"

namespace cellblock::daemon {
namespace {

static_assert(wire::max_user_name == max_user_name);

bool names_its_client(const Server& server) {
  return std::ranges::any_of(server.environment, [](const EnvironmentVariable& variable) {
    return needs_user_name(variable.value);
  });
}

}  // namespace

wire::SupervisorRequest gateway_request(std::uint32_t uid, const ServerSet& servers,
                                        const Config& config) {
  wire::SupervisorRequest request{
      .kind = wire::SupervisorRequestKind::start_gateway, .uid = uid, .servers = servers};
  if (std::ranges::none_of(config.servers, names_its_client)) return request;
  const std::string name = name_of_user(uid);
  if (!is_user_name(name)) return request;
  request.user_length = static_cast<std::uint8_t>(name.size());
  std::ranges::copy(name, request.user.begin());
  return request;
}

}  // namespace cellblock::daemon
