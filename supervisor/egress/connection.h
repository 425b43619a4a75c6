#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/egress/deferred_work.h"
#include "supervisor/egress/dialer.h"
#include "supervisor/egress/egress_context.h"
#include "supervisor/egress/proxy_request.h"
#include "supervisor/egress/relay.h"

namespace cellblock::egress {

/// One connection of the cell: target, rules, name, addresses, rules again, dialling, relay. Every
/// way out tells an event.
class Connection {
 public:
  using Done = std::function<void()>;

  /// `number`: from 1, in the order of the attempts.
  Connection(EgressContext& around, std::uint32_t number, Fd cell, Done done);

  void go_where_it_was_sent();  ///< the socket's own address says where
  void go_where_it_asks();      ///< the client says so, to a proxy
  void refuse(wire::EgressReason reason, int error = 0);
  void hang_up();  ///< its cell is gone

 private:
  static constexpr Milliseconds patience{10'000};  ///< for a whole proxy request

  void read_request();
  bool take_step(const ProxyStep& step);
  void begin(Target target);
  bool is_allowed() const;
  bool may_ask() const;
  void resolved(const LookupResult& found);
  void dial(const std::vector<InternetAddress>& addresses);
  void dialled(Dialled result);
  void relay_ended(const RelayEnd& end);
  bool answer(const std::string& reply);
  wire::EgressEvent event(wire::EgressKind kind, wire::EgressReason reason) const;
  void finish();

  EgressContext& around_;
  std::uint32_t number_;
  Target target_;
  ProxyHandshake handshake_;
  bool is_proxied_ = false;
  std::string received_;  ///< of a proxy's client: what no step has used
  End cell_;
  Timer deadline_;
  Resolver::Lookup lookup_;
  std::optional<Dialer> dialer_;
  std::optional<Relay> relay_;
  bool finished_ = false;
  Done done_;
  Later later_;
};

}  // namespace cellblock::egress
