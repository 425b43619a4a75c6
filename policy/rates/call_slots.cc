#include "policy/rates/call_slots.h"

#include <algorithm>
#include <utility>

namespace cellblock {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// What is in flight is answered when its server answers it. Half a second later is soon enough not
// to waste a place, and late enough not to spin.
constexpr milliseconds guess{500};

// Nobody is told to come back a moment too soon.
milliseconds rounded_up(nanoseconds time) { return std::chrono::ceil<milliseconds>(time); }

}  // namespace

Busy CallSlot::waited() const {
  CallSlots& owner = state_->owner;
  Busy busy{.why = Busy::Why::waited, .of = BoundOf::server, .retry_after = guess};
  busy.wait = static_cast<std::uint32_t>(owner.waiting(state_->server));
  for (const auto& bound : owner.bounds_of(*state_)) {
    if (bound.use == nullptr || !bound.use->is_full()) continue;
    busy.of = bound.of;
    busy.bounds = bound.use->bounds;
    break;
  }
  return busy;
}

void CallSlot::GiveBack::operator()(State* state) const {
  const std::unique_ptr<State> gone(state);
  gone->owner.give_back(*gone);
}

void CallSlots::Use::rebind(const CallBounds& its) {
  if (bounds.rate != its.rate) bucket.reset();
  if (its.rate && !bucket) bucket.emplace(*its.rate);
  bounds = its;
}

CallSlots::ServerUse::ServerUse(const ServerCalls& its) : all(its.bounds) {
  for (const ToolCalls& tool : its.tools) tools.emplace(tool.name, tool.bounds);
}

void CallSlots::ServerUse::rebind(const ServerCalls& its) {
  all.rebind(its.bounds);
  // One that has calls in flight is remembered for their sake.
  std::erase_if(tools, [&its](const auto& tool) {
    return tool.second.in_flight == 0 && find_tool(its, tool.first) == nullptr;
  });
  for (auto& [name, use] : tools) use.rebind({});
  for (const ToolCalls& tool : its.tools) {
    const auto [known, is_new] = tools.try_emplace(tool.name, tool.bounds);
    if (!is_new) known->second.rebind(tool.bounds);
  }
}

CallSlots::CallSlots(const Config& config)
    : config_(config), log_share_(config), user_(config.calls.user) {
  servers_.reserve(config.servers.size());
  for (const Server& server : config.servers) servers_.emplace_back(server.calls);
}

void CallSlots::reconfigure() {
  log_share_.reconfigure(config_);
  user_.rebind(config_.calls.user);
  for (auto& [session, use] : sessions_) use.rebind(config_.calls.session);
  for (std::size_t i = 0; i < config_.servers.size(); ++i) {
    const ServerCalls& rules = config_.servers[i].calls;
    if (i < servers_.size()) {
      servers_[i].rebind(rules);
    } else {
      servers_.emplace_back(rules);
    }
  }
  let_in();
}

std::expected<CallSlot, Busy> CallSlots::take(const Wanted& wanted, CallWaiter& waiter,
                                              Instant now) {
  const ServerCalls& rules = rules_of(wanted.server);
  CallSlot::State call{.owner = *this,
                       .waiter = waiter,
                       .session = wanted.session,
                       .server = wanted.server,
                       .tool = {}};
  if (find_tool(rules, wanted.tool) != nullptr) call.tool = wanted.tool;
  if (bounds_sessions()) sessions_.try_emplace(wanted.session, config_.calls.session);
  const Bounds bounds = bounds_of(call);
  const auto is_bound = [](const Bound& bound) { return bound.use != nullptr; };
  if (std::ranges::none_of(bounds, is_bound)) return CallSlot();
  if (const auto busy = out_of_tokens(bounds, now)) return std::unexpected(*busy);
  if (const auto busy = out_of_log(now)) return std::unexpected(*busy);

  const auto full = std::ranges::find_if(
      bounds, [](const Bound& bound) { return bound.use != nullptr && bound.use->is_full(); });
  if (full != bounds.end()) {
    const std::size_t wait = waiting(wanted.server);
    if (wait >= rules.queue.most) {
      return std::unexpected(Busy{.why = Busy::Why::in_flight,
                                  .of = full->of,
                                  .bounds = full->use->bounds,
                                  .wait = static_cast<std::uint32_t>(wait),
                                  .retry_after = guess});
    }
    call.waits = true;
    call.until = now + rules.queue.longest_wait;
  }
  log_share_.take(now);
  for (const Bound& bound : bounds) {
    if (bound.use != nullptr && bound.use->bucket) bound.use->bucket->take(now);
  }
  if (!call.waits) count_up(call, bounds);
  CallSlot place(std::move(call));
  if (place.state_->waits) queue_.push_back(place.state_.get());
  return place;
}

const ServerCalls& CallSlots::rules_of(std::uint32_t server) const {
  static const ServerCalls none;
  return server == no_server ? none : config_.servers[server].calls;
}

CallSlots::Bounds CallSlots::uses_of(const CallSlot::State& call) {
  ServerUse* server = call.server == no_server ? nullptr : &servers_[call.server];
  Bounds bounds{{{BoundOf::tool, nullptr},
                 {BoundOf::server, server == nullptr ? nullptr : &server->all},
                 {BoundOf::session, session_use(call.session)},
                 {BoundOf::user, &user_}}};
  if (server != nullptr && !call.tool.empty()) {
    const auto tool = server->tools.find(call.tool);
    if (tool != server->tools.end()) bounds[0].use = &tool->second;
  }
  return bounds;
}

// Those that bound nothing are left out.
CallSlots::Bounds CallSlots::bounds_of(const CallSlot::State& call) {
  Bounds bounds = uses_of(call);
  for (Bound& bound : bounds) {
    if (bound.use != nullptr && !bound.use->is_bounded()) bound.use = nullptr;
  }
  return bounds;
}

// Null as well: of a session that is over, whose calls may still be given back.
CallSlots::Use* CallSlots::session_use(std::uint64_t session) {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : &found->second;
}

bool CallSlots::bounds_sessions() const {
  return config_.calls.session.rate || config_.calls.session.in_flight;
}

// The longest wait of all: before it is over the call would be refused again.
std::optional<Busy> CallSlots::out_of_tokens(const Bounds& bounds, Instant now) const {
  std::optional<Busy> busy;
  for (const Bound& bound : bounds) {
    if (bound.use == nullptr || !bound.use->bucket) continue;
    const milliseconds wait = rounded_up(bound.use->bucket->wait(now));
    if (wait.count() == 0 || (busy && busy->retry_after >= wait)) continue;
    busy = Busy{
        .why = Busy::Why::rate, .of = bound.of, .bounds = bound.use->bounds, .retry_after = wait};
  }
  return busy;
}

std::optional<Busy> CallSlots::out_of_log(Instant now) {
  const milliseconds wait = rounded_up(log_share_.wait(now));
  if (wait.count() == 0) return std::nullopt;
  return Busy{.why = Busy::Why::log_share, .of = BoundOf::user, .bounds = {}, .retry_after = wait};
}

void CallSlots::count_up(CallSlot::State& call, const Bounds& bounds) {
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    call.counted.at(i) = bounds.at(i).use != nullptr;
    if (call.counted.at(i)) ++bounds.at(i).use->in_flight;
  }
}

void CallSlots::give_back(const CallSlot::State& state) {
  if (state.waits) {
    std::erase(queue_, &state);
    return;
  }
  const Bounds uses = uses_of(state);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    Use* use = uses.at(i).use;
    if (state.counted.at(i) && use != nullptr && use->in_flight > 0) --use->in_flight;
  }
  let_in();
}

// In the order in which they came; one that still has to wait does not hold up those behind it that
// wait for something else.
void CallSlots::let_in() {
  for (auto at = queue_.begin(); at != queue_.end();) {
    CallSlot::State& call = **at;
    const Bounds bounds = bounds_of(call);
    const bool fits = std::ranges::none_of(
        bounds, [](const Bound& bound) { return bound.use != nullptr && bound.use->is_full(); });
    if (!fits) {
      ++at;
      continue;
    }
    count_up(call, bounds);
    call.waits = false;
    at = queue_.erase(at);
    call.waiter.place_is_free();
  }
}

std::uint32_t CallSlots::in_flight(BoundOf of, const Wanted& wanted) const {
  const ServerUse& server = servers_[wanted.server];
  const auto tool = server.tools.find(wanted.tool);
  const auto session = sessions_.find(wanted.session);
  switch (of) {
    case BoundOf::user:
      return user_.in_flight;
    case BoundOf::session:
      return session == sessions_.end() ? 0 : session->second.in_flight;
    case BoundOf::server:
      return server.all.in_flight;
    case BoundOf::tool:
      break;
  }
  return tool == server.tools.end() ? 0 : tool->second.in_flight;
}

std::size_t CallSlots::waiting(std::uint32_t server) const {
  return static_cast<std::size_t>(
      std::ranges::count(queue_, server, [](const CallSlot::State* call) { return call->server; }));
}

}  // namespace cellblock
