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

/// Who connects, what they may use, and as whom they have connected before.
namespace cellblock::daemon {

/// Who connected, as the kernel recorded it at connect(2), or whose token was shown; nothing of it
/// comes from the peer.
struct Peer {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int32_t pid = 0;  ///< for display only: may be somebody else's by now
  std::vector<std::uint32_t> groups;
  wire::SessionVia via = wire::SessionVia::socket;
  std::uint32_t token = 0;  ///< of http_token: index in HttpListen::tokens
};

/// SO_PEERCRED and SO_PEERGROUPS. An error with more groups than wire::max_groups: a cut list could
/// hide the one that decides.
Result<Peer> identify(int socket);

/// True if some server's `allow` names the peer: only such a user costs a gateway, whose number is
/// bounded. Never true for a cell (even if it were given a path to the socket). Rootless: only the
/// user himself.
bool may_connect(const Peer& peer, const Config& config);

/// root, and those of `daemon.admins`; never a cell. Rootless: the user himself.
bool is_admin(const Peer& peer, const Config& config);

/// Whether the peer may bring another configuration, which can be any: root, who could start
/// another daemon as well. Rootless: the user himself.
bool may_reload(const Peer& peer, const Config& config);

/// Whether the peer may administer that user's gateway. No user administers his own, since a
/// program that acts in his name could approve its own calls. Rootless there is no other
/// administrator.
bool may_administer(const Peer& peer, std::uint32_t user, const Config& config);

/// Those whose `allow` names the peer: what his gateway may start.
ServerSet servers_for(const Peer& peer, const Config& config);

/// As whom each user has connected: of what groups. When the rules change, what his gateway may
/// start is what they give to any of these. One thread.
class PeerCredentialCache {
 public:
  /// Of one user; one more sends the oldest away, and what only that one was allowed is not
  /// permitted after a reload until it connects again.
  static constexpr std::size_t most = 16;

  void add(const Peer& peer);
  void forget(std::uint32_t uid) { by_uid_.erase(uid); }

  ServerSet servers_for(std::uint32_t uid, const Config& config) const;

 private:
  std::map<std::uint32_t, std::deque<Peer>> by_uid_;
};

}  // namespace cellblock::daemon
