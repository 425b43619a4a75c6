#include "supervisor/daemon/users/gateway_links.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace cellblock::daemon {

GatewayLinks::GatewayLinks(boost::asio::io_context& loop, const Parts& parts)
    : loop_(loop), config_(parts.config), launcher_(parts.launcher), helpers_(parts.helpers) {}

Result<void> GatewayLinks::start(std::uint32_t uid, const ServerSet& servers,
                                 GatewayLink::Events events) {
  Pair supervisor = CELLBLOCK_TRY(make_seqpacket_pair());
  Pair audit = CELLBLOCK_TRY(make_seqpacket_pair());
  CELLBLOCK_CHECK(helpers_.audit().name_gateway(uid));
  std::vector<int> fds{supervisor.second.get(), audit.second.get()};
  Fd page;
  if (MetricsHost* host = helpers_.metrics_host()) page = CELLBLOCK_TRY(host->begin_gateway(uid));
  if (page.valid()) fds.push_back(page.get());
  CELLBLOCK_CHECK(launcher_.tell(gateway_request(uid, servers, config_), fds));
  gateways_[uid] =
      std::make_unique<GatewayLink>(loop_, uid, std::move(supervisor.first), std::move(events));
  // Without a writer the channel is dead, the gateway refuses calls, and gets a new one later.
  if (const auto added = helpers_.audit().add_source(uid, std::move(audit.first)); !added) {
    spdlog::warn("gateway for uid {} starts without audit: {}", uid, added.error().text);
  }
  return {};
}

void GatewayLinks::ended(std::uint32_t uid) {
  close(uid);
  if (MetricsHost* host = helpers_.metrics_host()) host->end_gateway(uid);
}

const GatewayLink* GatewayLinks::find(std::uint32_t uid) const {
  const auto gateway = gateways_.find(uid);
  return gateway == gateways_.end() ? nullptr : gateway->second.get();
}

Result<void> GatewayLinks::renew_audit_channel(std::uint32_t uid) {
  Pair audit = CELLBLOCK_TRY(make_seqpacket_pair());
  CELLBLOCK_CHECK(helpers_.audit().add_source(uid, std::move(audit.first)));
  CELLBLOCK_CHECK(gateways_.at(uid)->renew_audit_channel(audit.second.get()));
  return {};
}

std::vector<std::uint32_t> GatewayLinks::reconfigure(int sealed) const {
  std::vector<std::uint32_t> deaf;
  for (const auto& [uid, gateway] : gateways_) {
    if (!gateway->reconfigure(sealed)) deaf.push_back(uid);
  }
  return deaf;
}

}  // namespace cellblock::daemon
