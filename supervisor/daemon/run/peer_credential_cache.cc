#include "supervisor/daemon/run/peer_credential_cache.h"

#include <algorithm>

namespace cellblock::daemon {
namespace {

bool is_same(const Peer& one, const Peer& other) {
  return one.gid == other.gid && one.groups == other.groups;
}

}  // namespace

void PeerCredentialCache::add(const Peer& peer) {
  std::deque<Peer>& known = by_uid_[peer.uid];
  if (std::ranges::any_of(known, [&peer](const Peer& one) { return is_same(one, peer); })) return;
  if (known.size() == most) known.pop_front();
  known.push_back(peer);
}

ServerSet PeerCredentialCache::servers_for(std::uint32_t uid, const Config& config) const {
  ServerSet servers;
  const auto known = by_uid_.find(uid);
  if (known == by_uid_.end()) return servers;
  for (const Peer& peer : known->second) {
    if (may_connect(peer, config)) servers.add(daemon::servers_for(peer, config));
  }
  return servers;
}

}  // namespace cellblock::daemon
