#include "supervisor/gateway/aggregate/aggregate_era_route.h"

#include <algorithm>
#include <array>
#include <utility>

#include "supervisor/gateway/checks/session_access.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/message/written_message.h"
#include "supervisor/gateway/route/bridging.h"
#include "supervisor/gateway/translate/legacy_over_modern.h"

namespace cellblock::gateway {

namespace {

// What any of them may ask of the host. Each server's own upstream holds it to its own.
ClientFeatures features_of_any(const Config& config, const SessionAccess& access) {
  ClientFeatures any;
  for (std::size_t i = 0; i < config.servers.size(); ++i) {
    const Server& server = config.servers[i];
    if (!server.is_usable() || !access.servers().contains(i)) continue;
    any.elicitation |= asks_users(server);  // our own question goes the way of servers' ones
    if (server.cells != CellSharing::per_session) continue;
    const auto index = static_cast<std::uint32_t>(i);
    const ClientFeatures features = permitted_features(server, access.rights(index));
    any.roots |= features.roots;
    any.sampling |= features.sampling;
    any.elicitation |= features.elicitation;
  }
  return any;
}

ReadingTool reading_tool_of(const SharedParts& shared, const SessionAccess& access) {
  if (shared.kept == nullptr) return ReadingTool::not_listed;
  for (std::size_t i = 0; i < shared.config.servers.size(); ++i) {
    const Server& server = shared.config.servers[i];
    const bool is_used = server.is_usable() && access.servers().contains(i);
    if (is_used && bounds_any(server.results)) return ReadingTool::listed;
  }
  return ReadingTool::not_listed;
}

// Whether a legacy host does anything about a changed list is not known.
Aggregate::ToolShown tool_shown_by(const SharedParts& shared, const SessionAccess& access,
                                   Era host) {
  if (reading_tool_of(shared, access) == ReadingTool::not_listed) return {};
  return [kept = shared.kept, host](bool has_stream) {
    const bool hears = has_stream && host == Era::modern;
    return kept->offer().listed_for(hears ? ReadingToolOffer::Host::hears_changes
                                          : ReadingToolOffer::Host::hears_nothing);
  };
}

Failure why_lost(const Server& server) {
  const bool is_left_out = server.enabled && server.breakage.is_broken();
  return is_left_out ? left_out(server) : not_allowlisted(server.name);
}

}  // namespace

/// A server route whose host is the aggregate.
class AggregateEraRoute::Member final : private ServerRouteEffects {
 public:
  Member(AggregateEraRoute& side, std::uint32_t server)
      : side_(side),
        server_(server),
        server_route_({.shared = side.shared_,
                       .access = side.access_,
                       .plan = {.server = server, .purpose = "aggregate"},
                       .session = side.session_,
                       .start = StartWhen::on_demand,
                       .of = RouteOf::all_servers},
                      side.services_, *this) {}

  ServerRoute& server_route() { return server_route_; }
  const ServerRoute& server_route() const { return server_route_; }

 private:
  void to_host(Slices message) override {
    side_.relay_.push({Relayed::What::from_leg, server_, joined(message), {}});
  }
  void route_running(Time now) override {
    side_.relay_.push({Relayed::What::route_started, server_, {}, {}});
    side_.drain(now);
  }
  void route_lost(const Failure& failure, After /*after*/, Time now) override {
    side_.relay_.push({Relayed::What::route_failed, server_, {}, failure});
    side_.drain(now);
    side_.above_.route_answered(now);
  }
  void route_answered(Time now) override {
    side_.drain(now);
    side_.above_.route_answered(now);
  }

  AggregateEraRoute& side_;
  const std::uint32_t server_;
  ServerRoute server_route_;
};

/// The bridge of a legacy host, to the aggregate.
class AggregateEraRoute::BridgeDoor final : private BridgeEffects {
 public:
  BridgeDoor(AggregateEraRoute& side, const ClientFeatures& features)
      : side_(side),
        alarm_(side.services_.make_alarm([this](Time now) {
          bridge_.deadline(now);
          side_.drain(now);
          side_.above_.route_answered(now);
        })),
        bridge_({.name = {}, .features = features}, *this) {}

  Bridge& bridge() { return bridge_; }

 private:
  void to_host(std::string_view text) override {
    side_.above_.to_host(std::array<std::string_view, 2>{text, "\n"});
  }
  void to_server(std::string_view text) override {
    side_.relay_.push({Relayed::What::to_aggregate, 0, std::string(text), {}});
  }
  void record(const AuditNote& note) override { side_.services_.record({}, note); }
  void set_deadline(std::optional<Milliseconds> from_now) override { alarm_->set(from_now); }

  AggregateEraRoute& side_;
  std::unique_ptr<Alarm> alarm_;
  LegacyOverModern bridge_;
};

AggregateEraRoute::AggregateEraRoute(Era host, const SharedParts& shared,
                                     const SessionAccess& access, std::uint64_t session,
                                     McpServices& services, ServerRouteEffects& above)
    : host_(host),
      shared_(shared),
      access_(access),
      session_(session),
      services_(services),
      above_(above),
      alarm_(services.make_alarm([this](Time now) {
        aggregate_.deadline(now);
        drain(now);
        above_.route_answered(now);
      })),
      aggregate_(shared.config, access_, session, shared.sealer, *this,
                 tool_shown_by(shared, access, host)) {
  if (host == Era::legacy) {
    bridge_ = std::make_unique<BridgeDoor>(*this, features_of_any(shared.config, access));
  }
}

AggregateEraRoute::~AggregateEraRoute() = default;

std::size_t AggregateEraRoute::in_flight() const {
  return bridge_ ? bridge_->bridge().in_flight() : aggregate_.in_flight();
}

bool AggregateEraRoute::is_in_flight(std::string_view caller_id) const {
  return bridge_ ? bridge_->bridge().is_in_flight(caller_id) : aggregate_.is_in_flight(caller_id);
}

Traffic AggregateEraRoute::traffic(std::uint32_t server) const {
  const auto found = members_.find(server);
  return found == members_.end() ? Traffic{} : found->second->server_route().traffic(server);
}

// --- from the host -------------------------------------------------------------------------------

void AggregateEraRoute::from_host(std::string_view line, Time now) {
  if (!std::exchange(has_begun_, true)) begin(now);
  relay_.push({Relayed::What::from_host, 0, std::string(line), {}});
  drain(now);
}

// Their cells start while the host is still asking for lists.
void AggregateEraRoute::begin(Time now) {
  for (std::uint32_t i = 0; i < shared_.config.servers.size(); ++i) {
    if (!is_usable(i)) continue;
    services_.expect_cell(i);
    if (shared_.config.servers[i].start.when == CellStart::session)
      member(i).server_route().start(now);
  }
}

// --- between the three ---------------------------------------------------------------------------

void AggregateEraRoute::drain(Time now) {
  now_ = now;
  relay_.run([this, now](Relayed next) { deliver(std::move(next), now); });
}

void AggregateEraRoute::deliver(Relayed relayed, Time now) {
  if (relayed.what == Relayed::What::route_started)
    return aggregate_.route_started(relayed.server, now);
  if (relayed.what == Relayed::What::route_failed) {
    return aggregate_.route_failed(relayed.server, relayed.failure, now);
  }
  deliver_text(std::move(relayed), now);
}

void AggregateEraRoute::deliver_text(Relayed relayed, Time now) {
  const WrittenMessage written(shared_.scanner, std::move(relayed.text));
  const std::string_view line = written.line();
  const auto& message = written.message();
  if (!message) return fail_unreadable(relayed, message.error(), now);
  const bool is_hosts = relayed.what == Relayed::What::from_host;
  if (is_hosts && bridge_) return bridge_->bridge().from_host(line, *message, now);
  if (relayed.what == Relayed::What::to_bridge) {
    return bridge_->bridge().from_server(line, *message, now);
  }
  if (relayed.what == Relayed::What::from_leg) {
    return aggregate_.from_leg(relayed.server, line, *message, now);
  }
  aggregate_.from_host(line, *message, now);
}

// Whoever waits for it is answered, and as nobody can tell who that is, all who may be.
void AggregateEraRoute::fail_unreadable(const Relayed& relayed, const Refused& refused, Time now) {
  if (relayed.what == Relayed::What::from_leg) return fail_leg(relayed.server, refused);
  const Failure failure = unreadable_between_eras(refused, "");
  record(std::nullopt, note_of_refused(failure));
  if (bridge_) bridge_->bridge().fail_all(failure, now);
}

void AggregateEraRoute::fail_leg(std::uint32_t server, const Refused& refused) {
  const Failure failure = unreadable_between_eras(refused, shared_.config.servers[server].name);
  record(server, note_of_refused(failure));
  relay_.push({Relayed::What::route_failed, server, {}, failure});
}

void AggregateEraRoute::to_host(Slices message) {
  if (!bridge_) return above_.to_host(message);
  relay_.push({Relayed::What::to_bridge, 0, joined(message), {}});
}

void AggregateEraRoute::record(std::optional<std::uint32_t> server, const AuditNote& note) {
  AuditPlace place;
  if (server) place.server = shared_.config.servers[*server].name;
  services_.record(place, note);
}

AggregateEraRoute::Member& AggregateEraRoute::member(std::uint32_t server) {
  auto& found = members_[server];
  if (!found) found = std::make_unique<Member>(*this, server);
  return *found;
}

void AggregateEraRoute::to_leg(std::uint32_t server, Slices message) {
  if (!is_usable(server)) return;
  const WrittenMessage written(shared_.scanner, joined(message));
  if (!written.message()) return fail_leg(server, written.message().error());
  member(server).server_route().from_host(written.line(), *written.message(), now_);
}

// --- catalogues ----------------------------------------------------------------------------------

void AggregateEraRoute::want_catalogue(std::uint32_t server) {
  waits_[server] = services_.want_catalogue(
      server, [this, server](const Catalogue* catalogue, const Failure& failure, Time now) {
        told(server, catalogue, failure, now);
      });
}

// What is kept of one that is left out is not offered either: nobody could call it.
std::optional<Broken> AggregateEraRoute::broken(std::uint32_t server) const {
  const Server& declared = shared_.config.servers[server];
  if (!declared.breakage.is_broken()) return services_.catalogues().broken(server);
  return Broken{.failure = left_out(declared), .rest = Broken::Rest::not_over};
}

void AggregateEraRoute::told(std::uint32_t server, const Catalogue* catalogue,
                             const Failure& failure, Time now) {
  waits_.erase(server);
  now_ = now;
  if (catalogue != nullptr) {
    aggregate_.catalogue_ready(server, *catalogue, now);
  } else {
    aggregate_.catalogue_failed(server, failure, now);
  }
  drain(now);
  above_.route_answered(now);
}

// --- the end -------------------------------------------------------------------------------------

// The bridge first, then the aggregate: what the one has answered, it no longer knows when the
// other answers it too. The server routes do it for the audit log's sake.
void AggregateEraRoute::fail_all(const Failure& failure, Time now) {
  now_ = now;
  if (bridge_) bridge_->bridge().fail_all(failure, now);
  aggregate_.fail_all(failure, now);
  for (const auto& [server, member] : members_) member->server_route().fail_all(failure, now);
  relay_.clear();
}

void AggregateEraRoute::cancel_all(std::string_view reason, Time now) {
  now_ = now;
  if (bridge_) bridge_->bridge().cancel_all(reason, now);
  drain(now);
  aggregate_.cancel_all(reason, now);
  for (const auto& [server, member] : members_) member->server_route().cancel_all(reason, now);
  relay_.clear();
}

void AggregateEraRoute::stop_server(std::uint32_t server, const Failure& failure, Time now) {
  const auto found = members_.find(server);
  if (found == members_.end()) return;
  found->second->server_route().fail_all(failure, now);
  found->second->server_route().leave();
  relay_.push({Relayed::What::route_failed, server, {}, failure});
  drain(now);
}

void AggregateEraRoute::replace_server(std::uint32_t server, Time now) {
  const auto found = members_.find(server);
  if (found == members_.end()) return;
  now_ = now;
  found->second->server_route().replace_server(server, now);
  drain(now);
}

// ReadResult by the aggregate as from the server itself: on the streams that it has there.
void AggregateEraRoute::list_changed(std::uint32_t server, mcp::ListKind kind, Time now) {
  const auto found = members_.find(server);
  if (found == members_.end()) return;
  found->second->server_route().list_changed(server, kind, now);
  drain(now);
}

void AggregateEraRoute::own_tools_changed(Time now) {
  aggregate_.own_tools_changed();
  drain(now);
}

// What a host still waits for of a server that it may not use any more does not come. Catalogues
// are asked for anew.
void AggregateEraRoute::reconfigure(const ServerSet& changed, Time now) {
  now_ = now;
  for (const auto& [server, member] : members_) {
    const bool is_lost = changed.contains(server) && !is_usable(server);
    if (is_lost) stop_server(server, why_lost(shared_.config.servers[server]), now);
  }
  std::erase_if(waits_, [this, &changed](const auto& wait) {
    if (!changed.contains(wait.first)) return false;
    services_.catalogues().forget(wait.second);
    return true;
  });
  aggregate_.reconfigure(changed, now);
  drain(now);
}

bool AggregateEraRoute::is_usable(std::uint32_t server) const {
  return shared_.config.servers[server].is_usable() && access_.servers().contains(server);
}

void AggregateEraRoute::leave() {
  for (const auto& [server, waiter] : std::exchange(waits_, {}))
    services_.catalogues().forget(waiter);
  for (const auto& [server, member] : members_) member->server_route().leave();
}

}  // namespace cellblock::gateway
