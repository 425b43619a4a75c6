#include <spdlog/spdlog.h>

#include <cerrno>
#include <utility>

#include "policy/config/find_server.h"
#include "supervisor/gateway/gateway.h"
#include "supervisor/gateway/session/home_report.h"

/// Homes that servers keep, looked at and cleared for whoever asks.
namespace cellblock::gateway {

void Gateway::ask_home(const ControlRequest& request, const Peer& peer, ControlAnswered answered) {
  // The session has asked whether there is one.
  const std::uint32_t server = server_index(config_, request.server).value();
  if (homes_asked_.size() == most_homes_asked) {
    const wire::HomeFacts busy{.answer = wire::HomeAnswer::failed, .error = EBUSY};
    return answered(home_json(config_.servers[server], request.home, busy));
  }
  const std::uint32_t number = next_request_++;
  homes_asked_[number] = {server, request.home, peer.uid, std::move(answered)};
  launcher_.ask_home(number, server, request.home);
}

void Gateway::home_told(const wire::CellEvent& event) {
  const auto found = homes_asked_.find(event.request);
  if (found == homes_asked_.end()) return give_up("an answer about a home that nobody asked for");
  const HomeAsked asked = std::move(found->second);
  homes_asked_.erase(found);
  const Server& server = config_.servers[asked.server];
  if (asked.action == wire::HomeAction::clear && event.home.files > 0) {
    spdlog::info("uid {} has cleared the home of server {}: {} files, {} bytes", asked.by,
                 server.name, event.home.files, event.home.bytes);
  }
  asked.answered(home_json(server, asked.action, event.home));
}

}  // namespace cellblock::gateway
