#include "supervisor/gateway/leg/lane.h"

#include <algorithm>
#include <array>
#include <utility>

#include "policy/mcp/lists.h"
#include "policy/mcp/methods.h"
#include "supervisor/gateway/catalogue/learning.h"
#include "supervisor/gateway/catalogue/survey_talk.h"
#include "supervisor/gateway/conversation/answer_edits.h"
#include "supervisor/gateway/leg/bridging.h"
#include "supervisor/gateway/leg/initialize_refusal.h"
#include "supervisor/gateway/message/failures.h"
#include "supervisor/gateway/message/written_message.h"
#include "supervisor/gateway/session/session_failures.h"

namespace cellblock::gateway {

namespace {

constexpr std::size_t least_held_bytes = 4U << 20;

}  // namespace

Lane::Lane(const LegParts& parts, McpServices& services, LaneEffects& leg)
    : parts_(parts),
      server_(parts_.server()),
      services_(services),
      leg_(leg),
      held_(std::max<std::size_t>(least_held_bytes, server_.lines.from_host)) {}

std::size_t Lane::in_flight() const {
  const std::size_t below = bridge_         ? bridge_->in_flight()
                            : conversation_ ? conversation_->in_flight()
                                            : 0;
  return below + held_.awaited();
}

bool Lane::is_in_flight(std::string_view theirs) const {
  if (held_.has(theirs)) return true;
  return bridge_ ? bridge_->is_in_flight(theirs) : conversation_ && conversation_->asks(theirs);
}

Traffic Lane::traffic() const {
  Traffic sum = past_;
  if (conversation_) sum += conversation_->traffic();
  return sum;
}

// --- from the host -------------------------------------------------------------------------------

void Lane::start(Time now) {
  if (may_start(now)) start_cell(now);
}

void Lane::from_host(std::string_view line, const Message& message, Time now) {
  if (open_) return forward(line, message, now);
  const bool is_request = message.kind == MessageKind::request;
  // Nothing starts for what nobody answers.
  if (!is_request && cell_ == nullptr && waits_ == 0) return;
  hold(line, message);
  advance(now);
}

void Lane::hold(std::string_view line, const Message& message) {
  if (held_.hold(line, message) || message.kind != MessageKind::request) return;
  const Failure failure =
      plain_failure(FailureCode::too_many, "too much waits for this server to start", server_.name);
  to_host(std::string_view(Conversation::failed_reply(message.id.in(line), kind_of(message.method),
                                                      *host_era_, failure)));
}

// Whatever is still missing for what is held: the era, the cell, its program.
void Lane::advance(Time now) {
  if (!cell_era_) cell_era_ = known_era();
  if (!cell_era_) return ask_for_era();
  if (cell_ == nullptr) return start(now);
  if (running_) open(now);
}

bool Lane::may_start(Time now) {
  if (services_.audit_state() == AuditState::writable) return true;
  lose(plain_failure(FailureCode::audit_unavailable,
                     "the audit log cannot be written, so nothing new is started", server_.name),
       now);
  return false;
}

void Lane::start_cell(Time now) {
  cell_ = &services_.make_cell(parts_.plan);
  cell_->use(*this, now);
}

// --- the era of the cell -------------------------------------------------------------------------

// The host's own wherever the server speaks it. For a legacy host that is so until its `initialize`
// is refused: nothing is asked beforehand that would make it wait.
std::optional<Era> Lane::known_era() const {
  if (!host_era_ || parts_.plan.program == wire::CellProgram::probe) return host_era_;
  if (server_.era == ServerEra::legacy) return Era::legacy;
  if (server_.era == ServerEra::modern) return Era::modern;
  const Eras eras = services_.catalogues().eras(parts_.plan.server);
  if (*host_era_ == Era::legacy) {
    return legacy_refused_ || eras.legacy == Speaks::no ? Era::modern : Era::legacy;
  }
  if (eras.modern == Speaks::yes) return Era::modern;
  if (eras.modern == Speaks::no) return Era::legacy;
  return std::nullopt;
}

void Lane::ask_for_era() {
  if (waits_ != 0 || !host_era_) return;
  waits_ = services_.want_catalogue(
      parts_.plan.server, [this](const Catalogue* catalogue, const Failure& failure, Time now) {
        waits_ = 0;
        if (catalogue == nullptr) return lose(failure, now);
        cell_era_ = catalogue->era;
        advance(now);
      });
}

void Lane::open(Time now) {
  open_ = true;
  cell_era_ = cell_->agree_on(*cell_era_);
  if (host_era_ == cell_era_) {
    bridge_.reset();
  } else if (!bridge_) {
    bridge_ = make_bridge();
  } else {
    bridge_->new_cell(cell_->id());
  }
  for (const HeldMessage& held : held_.take_all()) {
    forward(held.line, held.message, now);
  }
}

std::unique_ptr<Bridge> Lane::make_bridge() {
  alarm_ = services_.make_alarm([this](Time now) {
    if (!bridge_) return;
    bridge_->deadline(now);
    drain(now);
    leg_.lane_answered(now);
  });
  BridgeEffects& effects = *this;
  return gateway::make_bridge(parts_, cell_->id(), *host_era_, effects);
}

// A server that has no `initialize` says so in answer to it, and has spoilt nothing by it.
void Lane::watch_initialize(std::string_view line, const Message& message) {
  // A modern host is refused it by every server, which says nothing about the legacy era.
  if (server_.era != ServerEra::automatic || host_era_ != Era::legacy) return;
  if (legacy_agreed_ || initialize_) return;
  initialize_ = HeldMessage{std::string(line), message};
}

bool Lane::refuses_initialize(std::string_view line, const Message& message) {
  if (message.kind != MessageKind::error && message.kind != MessageKind::result) return false;
  if (!conversation_->is_initialize(message.id.in(line))) return false;
  const bool refused =
      message.kind == MessageKind::error && means_no_initialize(message.error.in(line));
  if (refused || message.kind == MessageKind::result) {
    services_.catalogues().learn_speaks(parts_.plan.server, Era::legacy,
                                        refused ? Speaks::no : Speaks::yes);
  }
  if (!refused) initialize_.reset();
  legacy_agreed_ = message.kind == MessageKind::result;
  return refused;
}

// In a fresh cell: this one may have taken an era for good. What else it was asked behind the
// `initialize`, it may have begun, so that is not asked again.
void Lane::start_again_as_modern(Time now) {
  conversation_->forget(initialize_->message.id.in(initialize_->line));
  conversation_->fail_all(
      plain_failure(FailureCode::bad_answer,
                    "the server refused initialize before it answered this", server_.name),
      now);
  held_.hold_first(*std::exchange(initialize_, std::nullopt));
  past_ = traffic();
  conversation_.reset();
  legacy_refused_ = true;
  running_ = open_ = false;
  std::exchange(cell_, nullptr)->leave(*this);
  cell_era_ = Era::modern;
  advance(now);
}

bool Lane::refuses_declared_era(std::string_view line, const Message& message) {
  if (server_.era == ServerEra::automatic || declared_era_agreed_) return false;
  if (message.kind != MessageKind::error && message.kind != MessageKind::result) return false;
  const bool is_legacy = server_.era == ServerEra::legacy;
  const Call* call = conversation_->call(message.id.in(line));
  const CallKind opening = is_legacy ? CallKind::initialize : CallKind::discover;
  if (call == nullptr || call->kind != opening) return false;
  declared_era_agreed_ = message.kind == MessageKind::result;
  if (declared_era_agreed_) return false;
  const std::string_view error = message.error.in(line);
  return is_legacy ? means_no_initialize(error) : era_hint(error) != EraHint::modern;
}

// In the server's own words it would be a riddle: "Method not found".
void Lane::fail_declared_era(std::string_view error, Time now) {
  const bool is_legacy = server_.era == ServerEra::legacy;
  fail_all(
      declared_era_refused(server_, is_legacy ? mcp::method::initialize : mcp::method::discover,
                           error_code(error)),
      now);
  leg_.lane_answered(now);
}

// --- host to server ------------------------------------------------------------------------------

void Lane::forward(std::string_view line, const Message& message, Time now) {
  if (bridge_) {
    bridge_->from_host(line, message, now);
    return drain(now);
  }
  if (message.kind == MessageKind::request) {
    cell_->asked();
    if (message.method == mcp::method::initialize) watch_initialize(line, message);
  }
  conversation_->from_host(line, message, now);
}

void Lane::to_server(std::string_view text) {
  relay_.push({Relayed::To::server, std::string(text)});
}

void Lane::to_cell(Slices message) {
  CellUser& user = *this;
  if (cell_ != nullptr) cell_->say(user, message);
}

void Lane::drain(Time now) {
  relay_.run([this, now](Relayed next) { deliver(std::move(next), now); });
}

void Lane::deliver(Relayed relayed, Time now) {
  const WrittenMessage written(parts_.shared.scanner, std::move(relayed.text));
  const auto& message = written.message();
  if (!conversation_) return;
  if (!message) return fail_unreadable(message.error(), now);
  if (relayed.to == Relayed::To::bridge) {
    return bridge_->from_server(written.line(), *message, now);
  }
  if (message->kind == MessageKind::request && cell_ != nullptr) cell_->asked();
  conversation_->from_host(written.line(), *message, now);
}

// All calls in flight fail, since one of them would wait for ever.
void Lane::fail_unreadable(const Refused& refused, Time now) {
  const Failure failure = unreadable_between_eras(refused, server_.name);
  record(note_of_refused(failure));
  fail_all(failure, now);
}

// --- server to host ------------------------------------------------------------------------------

void Lane::cell_running(Time now) {
  running_ = true;
  ConversationEffects& effects = *this;
  past_ = traffic();
  const SealBinding whose{
      .server = parts_.plan.server, .session = parts_.session, .cell = cell_->id()};
  conversation_.emplace(server_, parts_.rights(), parts_.shared.ids,
                        HandedValues(parts_.shared.sealer, whose), effects);
  leg_.lane_running(now);
  if (host_era_) advance(now);
}

void Lane::from_cell(std::string_view line, const Message& message, Time now) {
  if (initialize_ && refuses_initialize(line, message)) return start_again_as_modern(now);
  if (refuses_declared_era(line, message)) return fail_declared_era(message.error.in(line), now);
  if (message.kind == MessageKind::notification) learn(message.method);
  if (message.kind == MessageKind::result) learn_answer(line, message);
  conversation_->from_cell(line, message, now);
  if (bridge_) drain(now);
  leg_.lane_answered(now);
}

void Lane::learn(std::string_view method) {
  if (parts_.plan.has_workspace) return;
  if (const auto kind = mcp::changed_list(method)) {
    services_.catalogues().list_changed(parts_.plan.server, *kind);
  }
}

// Only where neither capabilities nor somebody's directory ever reach the server: what it offers,
// and says in it, may depend on them, and others hear it.
void Lane::learn_answer(std::string_view line, const Message& message) {
  const bool is_server = parts_.plan.program == wire::CellProgram::server;
  if (!is_server || server_.client_features != ClientFeatures{}) return;
  if (parts_.plan.has_workspace) return;
  const Call* call = conversation_->call(message.id.in(line));
  if (call == nullptr) return;
  if (parts_.teaches == Teaches::nothing && list_of(call->kind)) return;
  learn_from_answer(services_.catalogues(), parts_.plan.server, *call, message.result.in(line));
}

bool Lane::answer_lost(std::string_view ours, const Failure& failure, Time now) {
  if (!conversation_ || conversation_->is_idle()) return false;
  bool any = true;
  if (ours.empty()) {
    conversation_->fail_all(failure, now);
  } else {
    any = conversation_->fail(ours, failure, now);
  }
  if (bridge_) drain(now);
  leg_.lane_answered(now);
  return any;
}

bool Lane::owns(std::string_view ours) const { return conversation_ && conversation_->owns(ours); }

void Lane::to_host(Slices message) {
  if (!bridge_) return leg_.lane_says(message);
  relay_.push({Relayed::To::bridge, joined(message)});
}

void Lane::to_host(std::string_view text) {
  leg_.lane_says(std::array<std::string_view, 2>{text, "\n"});
}

void Lane::record(const AuditNote& note) { services_.record({server_.name, cell()}, note); }

void Lane::set_deadline(std::optional<Milliseconds> from_now) { alarm_->set(from_now); }

// --- the end -------------------------------------------------------------------------------------

void Lane::cell_gone(const Failure& failure, Time now) {
  last_cell_ = std::exchange(cell_, nullptr)->id();
  running_ = open_ = false;
  lose(failure, now);
}

void Lane::lose(const Failure& failure, Time now) {
  fail_all(failure, now);
  cell_era_.reset();
  leg_.lane_lost(*this, failure, now);
}

// The bridge first: what it answers, it no longer knows when the conversation answers it too, for
// the audit log's sake.
void Lane::fail_all(const Failure& failure, Time now) {
  fail_held(failure);
  if (bridge_) bridge_->fail_all(failure, now);
  if (conversation_) conversation_->fail_all(failure, now);
  relay_.clear();
  initialize_.reset();
}

void Lane::fail_held(const Failure& failure) {
  for (const HeldMessage& held : held_.take_all()) {
    if (held.message.kind != MessageKind::request) continue;
    to_host(std::string_view(Conversation::failed_reply(
        held.message.id.in(held.line), kind_of(held.message.method), *host_era_, failure)));
  }
}

void Lane::cancel_all(std::string_view reason, Time now) {
  held_.take_all();
  if (bridge_) {
    bridge_->cancel_all(reason, now);
    drain(now);
  }
  if (conversation_) conversation_->cancel_all(reason, now);
}

void Lane::leave() {
  if (waits_ != 0) services_.catalogues().forget(std::exchange(waits_, 0));
  if (cell_ == nullptr) return;
  last_cell_ = cell_->id();
  running_ = open_ = false;
  std::exchange(cell_, nullptr)->leave(*this);
}

}  // namespace cellblock::gateway
