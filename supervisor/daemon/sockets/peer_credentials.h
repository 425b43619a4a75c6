#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "policy/base/result.h"
#include "policy/base/server_set.h"
#include "policy/config/config.h"
#include "supervisor/ipc/wire.h"

/// The identity of peers, and the servers that they may use.
namespace cellblock::daemon {

/// The peer that the kernel recorded at connect(2), or the user of the shown token. No field comes
/// from the peer.
struct Peer {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int32_t pid = 0;  ///< for display only: another process may have the number by now
  std::vector<std::uint32_t> groups;
  wire::SessionVia via = wire::SessionVia::socket;
  std::uint32_t token = 0;  ///< with SessionVia::http_token: index in HttpListen::tokens
};

/// SO_PEERCRED and SO_PEERGROUPS. An error: more groups than wire::max_groups. A cut list could
/// hide the deciding group.
Result<Peer> identify(int socket);

/// True if a server's `allow` names the peer: only such a user gets a gateway, whose number is
/// bounded. Never true for a cell, even with a path to the socket. Rootless: only for the user
/// himself.
bool may_connect(const Peer& peer, const Config& config);

/// True for root and `daemon.admins`, never for a cell. Rootless: for the user himself.
bool is_admin(const Peer& peer, const Config& config);

/// True for root, who could as well start another daemon: a reload may change any key. Rootless:
/// for the user himself.
bool may_reload(const Peer& peer, const Config& config);

/// Whether the peer may administer that user's gateway. No user administers his own, since a
/// program that acts in his name could approve its own calls. Rootless he does: there is no other
/// administrator.
bool may_administer(const Peer& peer, std::uint32_t user, const Config& config);

/// The servers whose `allow` names the peer: those that the peer's gateway may start.
ServerSet servers_for(const Peer& peer, const Config& config);

/// The credentials with which each user has connected. After a reload, a user's gateway may start
/// the servers that the new rules give to any of them. One thread.
class PeerCredentialCache {
 public:
  /// Entries of one user. One more drops the oldest: servers that only the oldest may use are not
  /// permitted after a reload until it connects again.
  static constexpr std::size_t most = 16;

  void add(const Peer& peer);
  void forget(std::uint32_t uid) { by_uid_.erase(uid); }

  ServerSet servers_for(std::uint32_t uid, const Config& config) const;

 private:
  std::map<std::uint32_t, std::deque<Peer>> by_uid_;
};

}  // namespace cellblock::daemon
