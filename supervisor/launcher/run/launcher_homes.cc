#include <algorithm>
#include <cerrno>

#include "supervisor/launcher/run/launcher.h"

/// Homes that servers keep, looked at and cleared for their users.
namespace cellblock::launcher {

using wire::HomeAction;
using wire::HomeAnswer;

// Cells of a gateway that is gone may still be ending.
bool Launcher::uses_home(const Gateway& gateway, std::uint32_t server) const {
  const auto of_user = cells_of_.find(gateway.user);
  const std::size_t running = of_user == cells_of_.end() ? 0 : of_user->second;
  return running != gateway.servers.size() ||
         std::ranges::any_of(gateway.servers, [server](const auto& entry) {
           return entry.second.server == server && entry.second.program != wire::CellProgram::probe;
         });
}

// False: that was an offence.
bool Launcher::obey_about_home(Gateway& gateway, const wire::GatewayRequest& request) {
  const bool is_known = request.server_index < factory_.config().servers.size();
  if (!is_known || request.home_action > HomeAction::clear) return false;
  const auto refusal = begin_home_task(gateway, request);
  if (refusal.answer != HomeAnswer::done) tell_home(gateway.user, request.request, refusal);
  return true;
}

// `done`: it has begun.
wire::HomeFacts Launcher::begin_home_task(const Gateway& gateway,
                                          const wire::GatewayRequest& request) {
  const std::uint32_t server = request.server_index;
  const std::uint32_t user = gateway.user;
  if (!gateway.permitted.contains(server)) return {.answer = HomeAnswer::not_permitted};
  if (request.home_action == HomeAction::clear && uses_home(gateway, server)) {
    return {.answer = HomeAnswer::in_use};
  }
  auto home = factory_.kept_home(server, user);
  if (!home && home.error().number == ENOENT) return {.answer = HomeAnswer::none};
  if (!home) return {.answer = HomeAnswer::failed, .error = home.error().number};
  const HomeTasks::Task task{factory_.config().servers[server].name, user, home->owner,
                             request.home_action};
  const auto begun = homes_.begin(task, std::move(home->directory),
                                  [this, user, number = request.request](const auto& facts) {
                                    tell_home(user, number, facts);
                                  });
  if (!begun) return {.answer = HomeAnswer::failed, .error = begun.error().number};
  return {};
}

void Launcher::tell_home(std::uint32_t user, std::uint32_t request, const wire::HomeFacts& facts) {
  const auto found = gateways_.find(user);
  if (found == gateways_.end()) return;
  tell(*found->second, {.kind = wire::CellEventKind::home, .request = request, .home = facts});
}

}  // namespace cellblock::launcher
