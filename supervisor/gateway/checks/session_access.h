#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/access/rights.h"
#include "policy/base/server_set.h"
#include "policy/config/config.h"

/// What one session's rules leave a host and a server.
namespace cellblock::gateway {

/// What a server may ask of this user's host: the features in client_features that the rules allow.
/// Features that a rule asks about are not included, since no approval is possible here.
inline ClientFeatures permitted_features(const Server& server, const Rights& rights) {
  const auto allows = [&](std::string_view feature) {
    return rights.decide({AccessKind::feature, feature, nullptr}).effect == Effect::allow;
  };
  const ClientFeatures& declared = server.client_features;
  return {.roots = declared.roots && allows("roots"),
          .sampling = declared.sampling && allows("sampling"),
          .elicitation = declared.elicitation && allows("elicitation")};
}

/// What one session may do with each server. Keeps pointers into the configuration.
class SessionAccess {
 public:
  SessionAccess(const Config& config, const Subject& subject) { narrow(config, subject); }
  SessionAccess(const SessionAccess&) = delete;
  SessionAccess& operator=(const SessionAccess&) = delete;

  /// To what the subject may do now. Server routes that are still there have this too: the
  /// references that rights() gave stay good.
  void narrow(const Config& config, const Subject& subject);

  /// To nothing at all.
  void give_up();

  /// Rights at one server, by its index.
  const Rights& rights(std::uint32_t server) const { return rights_[server]; }
  /// The servers that the user may use.
  const ServerSet& servers() const { return servers_; }

  /// The longest line that any permitted server takes, for lines whose server is not known yet. The
  /// combined lists have pages of their own, however small the servers' bounds are.
  std::uint64_t longest_from_host() const { return longest_from_host_; }
  std::uint64_t longest_to_host() const { return longest_to_host_; }

 private:
  static constexpr std::uint64_t least_from_host = 64U << 10;
  static constexpr std::uint64_t least_to_host = 2U << 20;

  void use_none();
  void use(std::size_t server, const LineLimits& lines);

  std::vector<Rights> rights_;
  ServerSet servers_;
  std::uint64_t longest_from_host_ = least_from_host;
  std::uint64_t longest_to_host_ = least_to_host;
};

}  // namespace cellblock::gateway
