#pragma once

#include <cstdint>
#include <vector>

#include "policy/access/rights.h"
#include "policy/access/subject.h"
#include "policy/config.h"
#include "policy/server_set.h"

namespace cellblock::gateway {

/// What one session may do with each server. Keeps pointers into the configuration.
class SessionAccess {
 public:
  SessionAccess(const Config& config, const Subject& subject) { narrow(config, subject); }
  SessionAccess(const SessionAccess&) = delete;
  SessionAccess& operator=(const SessionAccess&) = delete;

  /// To what the subject may do now. Legs that are still there have this too: the references that
  /// rights() gave stay good.
  void narrow(const Config& config, const Subject& subject);

  /// To nothing at all.
  void give_up();

  /// By the server's index.
  const Rights& rights(std::uint32_t server) const { return rights_[server]; }
  /// Those that may be used.
  const ServerSet& servers() const { return servers_; }

 private:
  std::vector<Rights> rights_;
  ServerSet servers_;
};

}  // namespace cellblock::gateway
