#include "supervisor/daemon/sockets/peer_credentials.h"

#include <sys/socket.h>

#include <algorithm>

#include "policy/access/server_access.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {
namespace {

SysResult<std::vector<std::uint32_t>> peer_groups(int socket) {
  static_assert(sizeof(gid_t) == sizeof(std::uint32_t));
  std::vector<std::uint32_t> groups(wire::max_groups);
  auto size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) < 0) {
    return sys_fail("SO_PEERGROUPS");
  }
  groups.resize(size / sizeof(gid_t));
  return groups;
}

bool is_cell(std::uint32_t uid, const Identity& identity) {
  return uid >= identity.first_cell_id && uid - identity.first_cell_id < identity.cell_ids;
}

bool is_same(const Peer& one, const Peer& other) {
  return one.gid == other.gid && one.groups == other.groups;
}

}  // namespace

Result<Peer> identify(int socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0) {
    return sys_fail("SO_PEERCRED");
  }
  auto groups = CELLBLOCK_TRY(peer_groups(socket));
  return Peer{credentials.uid, credentials.gid, credentials.pid, std::move(groups)};
}

bool may_connect(const Peer& peer, const Config& config) {
  if (config.mode == RunMode::user) return peer.uid == config.identity.uid;
  if (is_cell(peer.uid, config.identity)) return false;
  return servers_for(peer, config) != ServerSet{};
}

bool is_admin(const Peer& peer, const Config& config) {
  if (config.mode == RunMode::user) return peer.uid == config.identity.uid;
  if (is_cell(peer.uid, config.identity)) return false;
  return peer.uid == 0 || std::ranges::binary_search(config.admins, peer.uid);
}

bool may_reload(const Peer& peer, const Config& config) {
  return peer.uid == (config.mode == RunMode::user ? config.identity.uid : 0);
}

bool may_administer(const Peer& peer, std::uint32_t user, const Config& config) {
  return is_admin(peer, config) && (config.mode == RunMode::user || peer.uid != user);
}

ServerSet servers_for(const Peer& peer, const Config& config) {
  return cellblock::servers_for(config,
                                subject_of(config.roles, {peer.uid, peer.gid, peer.groups}));
}

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
