#include "supervisor/gateway/route/era_route.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/catalogue/discovery_messages.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/listening.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/route/bridging.h"
#include "supervisor/gateway/route/passive_discovery.h"
#include "supervisor/gateway/upstream/answer_edits.h"

namespace cellblock::gateway {
namespace {

constexpr std::size_t least_held_bytes = 4U << 20;

}  // namespace

EraRoute::EraRoute(const ServerRouteParts& parts, McpServices& services,
                   EraRouteEffects& server_route)
    : parts_(parts),
      server_(parts_.server()),
      services_(services),
      server_route_(server_route),
      held_(std::max<std::size_t>(least_held_bytes, server_.lines.from_host)),
      retries_(server_),
      bridged_(std::max<std::size_t>(least_held_bytes, server_.lines.from_host)) {}

std::size_t EraRoute::in_flight() const {
  const std::size_t below = bridge_ ? bridge_->in_flight() : upstream_ ? upstream_->in_flight() : 0;
  return below + held_.awaited();
}

bool EraRoute::is_in_flight(std::string_view caller_id) const {
  if (held_.has(caller_id)) return true;
  return bridge_ ? bridge_->is_in_flight(caller_id) : upstream_ && upstream_->asks(caller_id);
}

Traffic EraRoute::traffic() const {
  Traffic sum = past_;
  if (upstream_) sum += upstream_->traffic();
  return sum;
}

// --- from the host -------------------------------------------------------------------------------

void EraRoute::start(Time now) {
  if (may_start(now)) start_cell(now);
}

void EraRoute::from_host(std::string_view line, const Message& message, Time now) {
  if (host_era_ == Era::legacy) replay_.from_host(line, message);
  if (open_) return forward(line, message, now);
  if (dropped_held(message, line, now)) return;
  const bool is_request = message.kind == MessageKind::request;
  // The server may wait for what the host answers it.
  if (!is_request && (replay_.is_under_way() || is_replacing_)) {
    forward(line, message, now);
    return answered(now);
  }
  // Nothing starts for what nobody answers, nor for what the rules refuse.
  if (!is_request && cell_ == nullptr && waits_ == 0) return;
  if (is_request && cell_ == nullptr && refused_without_cell(line, message)) return;
  hold(line, message);
  advance(now);
}

bool EraRoute::refused_without_cell(std::string_view line, const Message& message) {
  const CallAccess access = access_of(line, message, parts_.rights(), server_);
  if (access.refusal.empty()) return false;
  record(note_of_denied(line, message, access));
  to_host(std::string_view(access.refusal));
  return true;
}

void EraRoute::hold(std::string_view line, const Message& message) {
  if (held_.hold(line, message) || message.kind != MessageKind::request) return;
  const Failure failure =
      plain_failure(FailureCode::too_many, "too much waits for this server to start", server_.name);
  to_host(std::string_view(
      failed_reply(message.id.in(line), kind_of(message.method), *host_era_, failure)));
}

// Whatever is still missing for what is held: the era, the cell, its program.
void EraRoute::advance(Time now) {
  if (!cell_era_) cell_era_ = known_era();
  if (!cell_era_) return ask_for_era();
  if (cell_ == nullptr) return start(now);
  if (running_ && !first_list_.is_asking() && !is_replacing_) open(now);
}

bool EraRoute::may_start(Time now) {
  if (services_.audit_state() == AuditState::writable) return true;
  lose(plain_failure(FailureCode::audit_unavailable,
                     "the audit log cannot be written, so nothing new is started", server_.name),
       now);
  return false;
}

void EraRoute::start_cell(Time now) {
  CellPlan plan = parts_.plan;
  if (last_cell_ != 0 && plan.purpose.empty()) plan.purpose = revival_purpose;
  cell_ = &services_.make_cell(plan);
  cell_->use(*this, now);
}

// --- host to server ------------------------------------------------------------------------------

void EraRoute::forward(std::string_view line, const Message& message, Time now) {
  if (!bridge_ && first_list_.is_asking()) return hold(line, message);
  if (!bridge_ && first_list_.wants(upstream_->pins(), message)) {
    return list_first(line, message);
  }
  if (message.kind == MessageKind::request) retries_.went(line, message, call_states(), now);
  if (bridge_) {
    bridge_->from_host(line, message, now);
    return drain(now);
  }
  if (message.kind == MessageKind::request) {
    cell_->asked();
    if (message.method == mcp::method::initialize) watch_initialize(line, message);
  }
  upstream_->from_host(line, message, now);
}

void EraRoute::to_server(std::string_view text) {
  relay_.push({Relayed::To::server, std::string(text)});
}

void EraRoute::reply_to_cell(Slices message) {
  CellUser& user = *this;
  if (cell_ != nullptr) cell_->reply(user, message);
}

void EraRoute::to_cell(Slices message) {
  CellUser& user = *this;
  if (cell_ != nullptr) cell_->say(user, message);
}

void EraRoute::drain(Time now) {
  relay_.run([this, now](Relayed next) { deliver(std::move(next), now); });
}

void EraRoute::deliver(Relayed relayed, Time now) {
  const WrittenMessage written(parts_.shared.scanner, std::move(relayed.text));
  const auto& message = written.message();
  if (!upstream_) return;
  if (!message) return fail_unreadable(message.error(), now);
  if (relayed.to == Relayed::To::bridge) {
    return bridge_->from_server(written.line(), *message, now);
  }
  if (waits_for_list(written.line(), *message)) return;
  if (message->kind == MessageKind::request && cell_ != nullptr) cell_->asked();
  upstream_->from_host(written.line(), *message, now);
}

// All calls in flight fail, since one of them would wait for ever.
void EraRoute::fail_unreadable(const Refused& refused, Time now) {
  const Failure failure = unreadable_between_eras(refused, server_.name);
  record(note_of_refused(failure));
  fail_all(failure, now);
}

// --- server to host ------------------------------------------------------------------------------

void EraRoute::cell_running(Time now) {
  running_ = true;
  first_list_.reset();
  UpstreamEffects& effects = *this;
  past_ = traffic();
  const SealBinding whose{
      .server = parts_.plan.server, .session = parts_.session, .cell = cell_->id()};
  GateParts gate = parts_.gate(cell_->id());
  gate.hears_tool_changes = [this] { return hears(mcp::ListKind::tools); };
  upstream_.emplace(gate, parts_.rights(), parts_.shared.ids,
                    OpaqueTokens(parts_.shared.sealer, whose), parts_.shared.config.audit.arguments,
                    effects);
  if (last_cell_ != 0 && is_shared(server_, parts_.plan)) {
    record({.kind = wire::AuditKind::attach,
            .outcome = wire::AuditOutcome::ok,
            .reason = revival_purpose});
  }
  server_route_.era_route_running(now);
  if (host_era_) advance(now);
}

void EraRoute::from_cell(std::string_view line, const Message& message, Time now) {
  if (first_list_.owns(message.id.in(line)) && message.method.empty()) {
    return first_list_answered(line, message, now);
  }
  if (message.kind == MessageKind::result) note_announced(line, message);
  if (initialize_ && refuses_initialize(line, message)) return start_again_as_modern(now);
  if (refuses_declared_era(line, message)) return fail_declared_era(message.error.in(line), now);
  if (message.kind == MessageKind::notification) learn(message.method);
  if (message.kind == MessageKind::result) learn_answer(line, message);
  upstream_->from_cell(line, message, now);
  if (bridge_) drain(now);
  answered(now);
}

void EraRoute::learn(std::string_view method) {
  if (parts_.plan.has_workspace) return;
  if (const auto kind = mcp::changed_list(method)) {
    services_.catalogues().list_changed(parts_.plan.server, *kind);
  }
}

// Only where neither capabilities nor somebody's directory ever reach the server: what it offers,
// and says in it, may depend on them, and others hear it.
void EraRoute::learn_answer(std::string_view line, const Message& message) {
  const bool is_server = parts_.plan.program == wire::CellProgram::server;
  if (!is_server || server_.client_features != ClientFeatures{}) return;
  if (parts_.plan.has_workspace) return;
  const Call* call = upstream_->call(message.id.in(line));
  if (call == nullptr) return;
  if (parts_.of == RouteOf::all_servers && list_of(call->kind)) return;
  learn_from_answer(services_.catalogues(), parts_.plan.server, *call, message.result.in(line));
}

bool EraRoute::answer_lost(std::string_view own_id, const Failure& failure, Time now) {
  // Whoever's it was: the list is not waited for, and nor is any call.
  const bool is_list = first_list_.is_asking() && (own_id.empty() || first_list_.owns(own_id));
  bool is_call = upstream_ && !upstream_->is_idle();
  if (is_call && own_id.empty()) {
    upstream_->fail_all(failure, now);
  } else if (is_call) {
    is_call = upstream_->fail(own_id, failure, now);
  }
  if (is_list) go_without_list(now);
  if (!is_call) return is_list;
  if (bridge_) drain(now);
  answered(now);
  return true;
}

bool EraRoute::owns(std::string_view own_id) const {
  return first_list_.owns(own_id) || (upstream_ && upstream_->owns(own_id));
}

void EraRoute::to_host(Slices message) {
  if (!bridge_) return deliver_to_host(message);
  relay_.push({Relayed::To::bridge, joined(message)});
}

void EraRoute::to_host(std::string_view text) {
  deliver_to_host(std::array<std::string_view, 2>{text, "\n"});
}

void EraRoute::record(const AuditNote& note) { services_.record({server_.name, cell()}, note); }

void EraRoute::when_recorded(WhenRecorded then) {
  services_.when_recorded(
      [this, here = std::weak_ptr(here_), then = std::move(then)](AuditState log, Time now) {
        if (here.expired()) return;
        then(log, now);
        if (bridge_) drain(now);
        if (log == AuditState::broken) answered(now);
      });
}

std::string EraRoute::network_advice(Time since) const {
  return cell_ != nullptr ? cell_->network_advice(since) : std::string();
}

void EraRoute::set_deadline(std::optional<Milliseconds> from_now) { alarm_->set(from_now); }

void EraRoute::wake_in(Milliseconds from_now) {
  if (!call_alarm_) {
    call_alarm_ = services_.make_alarm([this](Time now) {
      if (upstream_) upstream_->woken(now);
      if (bridge_) drain(now);
      answered(now);
    });
  }
  call_alarm_->set(from_now);
}

// --- the end -------------------------------------------------------------------------------------

void EraRoute::cell_gone(const Failure& failure, Time now) {
  last_cell_ = std::exchange(cell_, nullptr)->id();
  running_ = open_ = is_replacing_ = false;
  first_list_.give_up();
  std::vector<HeldMessage> again = withdraw_for_retry(failure, now);
  fail_all(failure, now);
  replay_.cell_lost();
  for (const HeldMessage& held : again) hold(held.line, held.message);
  cell_era_.reset();
  server_route_.era_route_lost(*this, failure, now);
  if (held_.awaited() != 0) retry_soon();
}

void EraRoute::lose(const Failure& failure, Time now) {
  fail_all(failure, now);
  cell_era_.reset();
  server_route_.era_route_lost(*this, failure, now);
}

// The bridge first: what it answers, it no longer knows when the upstream answers it too, for
// the audit log's sake.
void EraRoute::fail_all(const Failure& failure, Time now) {
  fail_held(failure);
  if (bridge_) bridge_->fail_all(failure, now);
  if (upstream_) upstream_->fail_all(failure, now);
  bridged_.take_all();
  relay_.clear();
  initialize_.reset();
}

void EraRoute::fail_held(const Failure& failure) {
  for (const HeldMessage& held : held_.take_all()) {
    if (held.message.kind != MessageKind::request) continue;
    retries_.forget(held.message.id.in(held.line));
    to_host(std::string_view(failed_reply(held.message.id.in(held.line),
                                          kind_of(held.message.method), *host_era_, failure)));
  }
}

void EraRoute::cancel_all(std::string_view reason, Time now) {
  held_.take_all();
  bridged_.take_all();
  if (bridge_) {
    bridge_->cancel_all(reason, now);
    drain(now);
  }
  if (upstream_) upstream_->cancel_all(reason, now);
}

void EraRoute::leave() {
  if (waits_ != 0) services_.catalogues().forget(std::exchange(waits_, 0));
  if (retry_alarm_) retry_alarm_->set(std::nullopt);
  if (first_list_alarm_) first_list_alarm_->set(std::nullopt);
  if (cell_ == nullptr) return;
  last_cell_ = cell_->id();
  running_ = open_ = is_replacing_ = false;
  replay_.cell_lost();
  std::exchange(cell_, nullptr)->leave(*this);
}

// The tools of a server, asked for before the first call of a host that has not listed them.

namespace {

// A server that does not answer this will hardly answer the call.
constexpr Milliseconds patience{2'000};

}  // namespace

// What comes meanwhile waits behind the call.
void EraRoute::list_first(std::string_view line, const Message& message) {
  hold(line, message);
  open_ = false;
  ask_for_first_list();
}

// Behind a bridge it is asked for when the bridge makes the call: before, the server may not have
// been told yet who speaks.
bool EraRoute::waits_for_list(std::string_view line, const Message& message) {
  if (!first_list_.is_asking()) {
    if (!first_list_.wants(upstream_->pins(), message)) return false;
    ask_for_first_list();
  }
  const bool is_cancellation = message.method == mcp::notification::cancelled;
  if (is_cancellation && bridged_.drop(message.request_id.in(line))) return true;
  if (bridged_.hold(line, message) || message.kind != MessageKind::request) return true;
  const Failure failure = plain_failure(
      FailureCode::too_many, "too much waits for the list of this server's tools", server_.name);
  relay_.push({Relayed::To::bridge, failed_reply(message.id.in(line), kind_of(message.method),
                                                 era_of(message), failure)});
  return true;
}

void EraRoute::ask_for_first_list() {
  const std::string text =
      first_list_.begin(parts_.shared.ids, *cell_era_, parts_.shared.config.catalogue.max_bytes);
  if (!first_list_alarm_) {
    first_list_alarm_ = services_.make_alarm([this](Time now) {
      if (first_list_.is_asking()) go_without_list(now);
    });
  }
  first_list_alarm_->set(patience);
  to_cell(std::array<std::string_view, 2>{text, "\n"});
}

void EraRoute::first_list_answered(std::string_view line, const Message& message, Time now) {
  const auto next = first_list_.answered(line, message, parts_.shared.ids, upstream_->pins());
  if (next) return to_cell(std::array<std::string_view, 2>{*next, "\n"});
  go_without_list(now);
}

// With it, if it was answered.
void EraRoute::go_without_list(Time now) {
  first_list_.give_up();
  first_list_alarm_->set(std::nullopt);
  if (bridge_) {
    let_bridged_go(now);
  } else {
    advance(now);
  }
  answered(now);
}

// What is not known now is refused (PinGate::withhold_unlisted), and the next call asks for the
// list anew.
void EraRoute::let_bridged_go(Time now) {
  for (HeldMessage& held : bridged_.take_all()) {
    relay_.push({Relayed::To::server, std::move(held.line)});
  }
  drain(now);
  first_list_.reset();
}

// Telling the host of changes that its server does not know of: a definition that was withheld is
// shown now, or the other way round.

void EraRoute::note_announced(std::string_view line, const Message& message) {
  if (cell_era_ == Era::modern || !upstream_->is_initialize(message.id.in(line))) return;
  const Json result = read_tree(message.result.in(line));
  const Json* capabilities = result.is_object() ? object_in(result, "capabilities") : nullptr;
  for (std::size_t i = 0; i < announced_.size(); ++i) {
    announced_.at(i) = capabilities != nullptr &&
                       offers(*capabilities, mcp::list_changes.at(i).capability, "listChanged");
  }
}

// A modern host hears it on the streams where it wants to; a legacy one where the server has said
// that there is such a notification, and a bridge on its host's behalf.
void EraRoute::list_changed(mcp::ListKind kind, Time now) {
  if (!upstream_ || cell_ == nullptr) return;
  const mcp::ListChange& change = mcp::change_of(kind);
  if (cell_era_ == Era::modern) {
    for (const std::uint64_t stream : upstream_->streams_about(kind)) {
      inject_from_cell(
          fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{{"_meta":{{"{}":{}}}}}}})",
                      change.notification, mcp::meta_key::subscription, stream),
          now);
    }
  } else if (announced_.at(static_cast<std::size_t>(&change - mcp::list_changes.data()))) {
    inject_from_cell(fmt::format(R"({{"jsonrpc":"2.0","method":"{}"}})", change.notification), now);
  }
}

bool EraRoute::hears(mcp::ListKind kind) const {
  if (host_era_ != Era::modern || !upstream_) return false;
  return bridge_ ? bridge_->hears(kind) : upstream_->hears(kind);
}

void EraRoute::inject_from_cell(std::string text, Time now) {
  const WrittenMessage written(parts_.shared.scanner, std::move(text));
  if (!written.message()) return;
  upstream_->from_cell(written.line(), *written.message(), now);
  if (bridge_) drain(now);
  answered(now);
}

}  // namespace cellblock::gateway
