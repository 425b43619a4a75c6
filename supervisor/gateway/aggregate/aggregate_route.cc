#include "supervisor/gateway/aggregate/aggregate_route.h"

#include <algorithm>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/route/server_route.h"

namespace cellblock::gateway {

AggregateRoute::AggregateRoute(const SharedParts& shared, const SessionAccess& access,
                               std::uint64_t session, McpServices& services,
                               ServerRouteEffects& above)
    : shared_(shared), access_(access), session_(session), services_(services), above_(above) {}

AggregateEraRoute& AggregateRoute::side_of(Era host) {
  for (const auto& side : sides_) {
    if (side->host_era() == host) return *side;
  }
  sides_.push_back(
      std::make_unique<AggregateEraRoute>(host, shared_, access_, session_, services_, above_));
  return *sides_.back();
}

// As a server route chooses its era route.
AggregateEraRoute* AggregateRoute::side_for(std::string_view line, const Message& message) {
  if (message.kind == MessageKind::request) return &side_of(era_of(message));
  if (message.method == mcp::notification::cancelled) {
    if (AggregateEraRoute* side = way_of_call(sides_, message.request_id.in(line))) return side;
  }
  if (sides_.empty()) return nullptr;
  return sides_.size() == 1 ? sides_.front().get() : &side_of(era_of(message));
}

void AggregateRoute::from_host(std::string_view line, const Message& message, Time now) {
  if (AggregateEraRoute* side = side_for(line, message)) side->from_host(line, now);
}

void AggregateRoute::fail_all(const Failure& failure, Time now) {
  for (const auto& side : sides_) side->fail_all(failure, now);
}

void AggregateRoute::cancel_all(std::string_view reason, Time now) {
  for (const auto& side : sides_) side->cancel_all(reason, now);
}

bool AggregateRoute::stop_server(std::uint32_t server, const Failure& failure, Time now) {
  for (const auto& side : sides_) side->stop_server(server, failure, now);
  return true;
}

void AggregateRoute::replace_server(std::uint32_t server, Time now) {
  for (const auto& side : sides_) side->replace_server(server, now);
}

void AggregateRoute::list_changed(std::uint32_t server, mcp::ListKind kind, Time now) {
  for (const auto& side : sides_) side->list_changed(server, kind, now);
}

void AggregateRoute::own_tools_changed(Time now) {
  for (const auto& side : sides_) side->own_tools_changed(now);
}

void AggregateRoute::reconfigure(const ServerSet& changed, Time now) {
  for (const auto& side : sides_) side->reconfigure(changed, now);
}

void AggregateRoute::leave() {
  for (const auto& side : sides_) side->leave();
}

bool AggregateRoute::is_in_flight(std::string_view caller_id) const {
  return std::ranges::any_of(sides_,
                             [&](const auto& side) { return side->is_in_flight(caller_id); });
}

std::size_t AggregateRoute::in_flight() const {
  std::size_t sum = 0;
  for (const auto& side : sides_) sum += side->in_flight();
  return sum;
}

Traffic AggregateRoute::traffic(std::uint32_t server) const {
  Traffic sum;
  for (const auto& side : sides_) sum += side->traffic(server);
  return sum;
}

}  // namespace cellblock::gateway
