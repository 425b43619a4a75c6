#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "policy/base/server_set.h"
#include "policy/config/config.h"
#include "supervisor/daemon/run/peer_credentials.h"

namespace cellblock::daemon {

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
