#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "policy/rates/refused_attempts.h"
#include "supervisor/daemon/helpers/supervisor_audit_queue.h"
#include "supervisor/daemon/sockets/peer_credentials.h"

namespace cellblock::daemon {

/// Records refused attempts in the audit log and the journal: at administrators' sockets, and with
/// unknown tokens. The records of one sweep are bounded; further attempts are counted. One thread.
class RefusalRecorder {
 public:
  /// The references outlive it.
  RefusalRecorder(const Config& config, SupervisorAuditQueue& audit_queue)
      : config_(config), audit_queue_(audit_queue) {}

  /// `which`: the socket's name; `whose`: what was to be reached. The record has only these and the
  /// kernel's facts about the peer, no text of the peer.
  void record(const Peer& peer, std::string_view which, const std::string& whose);
  /// `from`: an address, or several.
  void record_wrong_token(const std::string& from, std::uint32_t requests);

  /// Called at a steady pace: logs the number of attempts that were not recorded.
  void sweep();

 private:
  const Config& config_;
  SupervisorAuditQueue& audit_queue_;
  RefusedAttempts attempts_;        ///< since the last sweep
  std::uint32_t wrong_tokens_ = 0;  ///< records of them since the last sweep
};

}  // namespace cellblock::daemon
