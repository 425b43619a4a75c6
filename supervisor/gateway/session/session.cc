#include "supervisor/gateway/session/session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "policy/mcp/control_methods.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/aggregate/aggregate_route.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/route/modern_request_check.h"
#include "supervisor/gateway/session/admission.h"

namespace cellblock::gateway {
namespace {

// Messages that are too long for their host. The upstream holds a server's messages to
// lines.to_host, but a message that a bridge or the aggregate rewrites may have grown since, and
// official SDKs close a connection over it.

struct InsteadOfOverlong {
  std::string to_host;  ///< the error for the host's request; else empty
  std::string to_peer;  ///< the host's refusal, for the server's request; else empty
};

// The session does not know the answered call's method. Only results of tools/call have `content`;
// `resultType` belongs to the modern era.
std::string failed_answer(std::string_view id, std::string_view result, const Failure& failure) {
  const Json tree = parse_json(result);
  if (member(tree, "content") == nullptr) return error_reply(id, failure);
  const bool is_modern = member(tree, "resultType") != nullptr;
  return tool_error_reply(id, failure, is_modern ? Era::modern : Era::legacy);
}

Failure message_too_large(std::size_t size, std::size_t limit, std::string_view server) {
  return plain_failure(FailureCode::too_large,
                       "the message has " + std::to_string(size) +
                           " bytes as the host would get it; lines.to_host allows " +
                           std::to_string(limit),
                       server);
}

InsteadOfOverlong instead_of_overlong(std::string_view line, const Message& message,
                                      const Failure& failure) {
  const std::string_view id = message.id.in(line);
  switch (message.kind) {
    case MessageKind::notification:
      return {};
    case MessageKind::request:
      return {.to_host = {},
              .to_peer = protocol_error(id, mcp::invalid_request, "the request is too large")};
    case MessageKind::result:
      return {.to_host = failed_answer(id, message.result.in(line), failure), .to_peer = {}};
    case MessageKind::error:
      return {.to_host = error_reply(id, failure), .to_peer = {}};
  }
  return {};
}

using wire::AuditKind;
using wire::AuditOutcome;

// After the end of its input a host may still wait for answers. A host that does not wait closes
// its output too, or ends its bridge.
constexpr Milliseconds answers_time{60'000};

std::unique_ptr<KeptResults> kept_for(const SharedParts& shared, SessionEffects& effects) {
  if (shared.kept_total == nullptr) return nullptr;
  return std::make_unique<KeptResults>(*shared.kept_total, [&effects](Alarm::Rings rings) {
    return effects.make_alarm(std::move(rings));
  });
}

SharedParts with_kept(SharedParts shared, KeptResults* kept) {
  shared.kept = kept;
  return shared;
}

}  // namespace

Session::Session(Peer peer, const SharedParts& shared, SessionEffects& effects)
    : peer_(std::move(peer)),
      kept_(kept_for(shared, effects)),
      shared_(with_kept(shared, kept_.get())),
      config_(shared.config),
      effects_(effects),
      access_(config_, subject_of(config_.roles, who())) {}

Traffic Session::traffic(std::uint32_t server) const {
  return route_ ? route_->traffic(server) : Traffic{};
}

// --- from the host -------------------------------------------------------------------------------

std::size_t Session::line_limit() const {
  return server_ != nullptr ? server_->lines.from_host : access_.longest_from_host();
}

void Session::host_line(std::string_view line, Time now) {
  if (state_ == State::closing) return;
  if (line.size() > line_limit()) return host_line_too_long(line.size());
  const auto message = shared_.scanner.scan(line);
  if (!message) return malformed(line, message.error());
  if (message->kind == MessageKind::request) note_request(line, *message);
  if (has_revoked_token()) return refuse_revoked(line, *message, now);
  if (message->method.starts_with(control_method::prefix)) return control(line, *message, now);
  if (peer_.is_admin) return refuse_admin(message->id.in(line), message->kind);
  mcp_from_host(line, *message, now);
}

void Session::malformed(std::string_view line, const Refused& refused) {
  if (refused.fault == MessageFault::empty_line) return;
  ++malformed_;
  std::string why(explain(refused.fault));
  if (!refused.detail.empty()) why += " (" + refused.detail + ")";
  reply_to_host(protocol_error(refused.id.in(line), error_code_of(refused.fault), why));
}

void Session::host_line_too_long(std::size_t seen) {
  if (state_ == State::closing) return;
  ++malformed_;
  reply_to_host(error_reply("", line_too_large(seen, line_limit(), server_)));
}

void Session::mcp_from_host(std::string_view line, const Message& message, Time now) {
  if (state_ == State::failed) return answer_with_failure(line, message);
  if (state_ == State::draining) return mcp_while_draining(line, message, now);
  if (message.kind == MessageKind::request && refused_mcp(line, message, now)) return;
  if (state_ == State::unattached && message.kind == MessageKind::request) {
    join_context(now);
    speak_with_all();
  }
  if (state_ != State::attached) return;
  if (message.kind == MessageKind::request) host_has_asked_ = true;
  if (waits_to_be_taken_up(line, message, now)) return;
  if (answered_from_kept(line, message, now)) return;
  route_->from_host(line, message, now);
  tell_refusals(now);
}

bool Session::refused_mcp(std::string_view line, const Message& message, Time now) {
  if (message.is_modern() || message.method == mcp::method::discover) {
    if (const auto reply = refuse_modern(line, message)) {
      reply_to_host(*reply);
      return true;
    }
  }
  if (state_ != State::unattached) return false;
  const auto failure = refuse_aggregate(now);
  if (failure) reply_to_host(error_reply(message.id.in(line), *failure));
  return failure.has_value();
}

// Passes on answers to a server's requests, and cancellations: a call in flight may wait for them.
void Session::mcp_while_draining(std::string_view line, const Message& message, Time now) {
  if (kept_for_next(line, message)) return;
  if (message.kind == MessageKind::request) {
    return reply_to_host(error_reply(message.id.in(line), shutting_down(server_)));
  }
  route_->from_host(line, message, now);
  route_answered(now);
}

// MCP without a selected server goes to all servers.
void Session::speak_with_all() {
  const auto route = [this](ServerRouteEffects& above) {
    return std::make_unique<AggregateRoute>(shared_, access_, peer_.session, effects_, above);
  };
  route_ = listed_route(tools_.value_or(config_.aggregate.tools), route);
  state_ = State::attached;
  note(AuditKind::attach, AuditOutcome::ok, "aggregate");
}

// A role is for good: rights that were given up cannot be regained on this connection.
bool Session::take_role(const std::string& role) {
  if (role.empty() || role == role_) return true;
  if (!role_.empty()) return false;
  const auto narrowed = as_role(config_.roles, subject_of(config_.roles, who()), role);
  if (!narrowed) return false;
  access_.narrow(config_, *narrowed);
  role_ = role;
  return true;
}

void Session::answer_with_failure(std::string_view line, const Message& message) {
  if (message.kind != MessageKind::request) return;
  reply_to_host(
      failed_reply(message.id.in(line), kind_of(message.method), era_of(message), *failure_));
  // Ends one turn of the loop later, so that the requests that came with this one get the answer
  // too.
  effects_.set_deadline(Milliseconds{0});
}

void Session::host_ended(HostEnd how, Time now) {
  switch (state_) {
    case State::closing:
      return;
    case State::unattached:
      if (how == HostEnd::end_of_input && is_waited_for()) return finish();
      return close("host_closed", nullptr, now);
    case State::failed:
      return close("server_failed", &*failure_, now);
    case State::attached:
      if (how == HostEnd::gone || !is_waited_for()) return leave(now);
      return finish();
    case State::draining:
      return leave(now);
    case State::finishing:
      if (how == HostEnd::gone) leave(now);
      return;
    case State::attaching:
      return leave(now);
  }
}

bool Session::is_waited_for() const {
  const bool has_calls = route_ && route_->in_flight() != 0;
  return control_owed_ != 0 || !reads_.empty() || has_calls;
}

void Session::finish() {
  state_ = State::finishing;
  effects_.set_deadline(answers_time);
}

// --- from the route ------------------------------------------------------------------------------

void Session::to_host(Slices message) {
  std::size_t size = 0;
  for (const std::string_view slice : message) size += slice.size();
  if (is_for_memory(message)) return;
  if (size - 1 > host_bound()) return refuse_overlong(message, size - 1);
  effects_.to_host(message);
}

std::size_t Session::host_bound() const {
  return server_ != nullptr ? server_->lines.to_host : access_.longest_to_host();
}

void Session::refuse_overlong(Slices message, std::size_t size) {
  std::string text;
  for (const std::string_view slice : message) text += slice;
  text.resize(size + MessageScanner::padding);
  const auto line = std::string_view(text).substr(0, size);
  const auto scanned = shared_.scanner.scan(line);
  effects_.record(place(), {.kind = AuditKind::refused,
                            .outcome = AuditOutcome::denied,
                            .tool = scanned ? scanned->method : std::string_view{},
                            .reason = name_of(FailureCode::too_large),
                            .bytes = size});
  if (!scanned) return;
  const std::string_view name = server_ != nullptr ? server_->name : std::string_view{};
  auto instead = instead_of_overlong(line, *scanned, message_too_large(size, host_bound(), name));
  if (!instead.to_host.empty()) reply_to_host(instead.to_host);
  if (!instead.to_peer.empty()) refusals_.push_back(std::move(instead.to_peer));
}

// Called after the turn in which the refusals arose, since their callers are not done before.
void Session::tell_refusals(Time now) {
  for (std::string& text : std::exchange(refusals_, {})) {
    const std::size_t size = text.size();
    text.resize(size + MessageScanner::padding);
    const auto line = std::string_view(text).substr(0, size);
    const auto message = shared_.scanner.scan(line);
    if (message) route_->from_host(line, *message, now);
  }
}

void Session::route_running(Time /*now*/) {
  if (state_ == State::attaching) {
    // The start of a cell is the attach of its session; a shared cell belongs to no session alone.
    if (is_shared(*server_, plan_of(*server_))) {
      note(AuditKind::attach, AuditOutcome::ok, "shared");
    }
    attached(route_->cell());
  }
}

void Session::route_lost(const Failure& failure, After after, Time now) {
  if (state_ == State::attaching) return attach_failed(failure, now);
  const bool is_served = state_ == State::attached || is_draining();
  if (after == After::over && is_served) {
    // Requests in the other era, or without a route yet, are not answered any more either.
    route_->fail_all(failure, now);
    return fail(failure, now);
  }
  // The host's input has ended, so the end of this route becomes the session's. An end on purpose,
  // such as for a new declaration, has no verdict.
  const bool is_its_own = failure.code != FailureCode::server_failed || !failure.verdict.empty();
  if (state_ == State::finishing && is_its_own) failure_ = failure;
  route_answered(now);
}

void Session::route_answered(Time now) {
  tell_refusals(now);
  settle_resumption(now);
  end_if_answered(now);
}

void Session::end_if_answered(Time now) {
  if (!is_draining() || is_waited_for()) return;
  if (state_ == State::finishing) {
    return failure_ ? close("server_failed", &*failure_, now) : leave(now);
  }
  if (state_ == State::draining) stop(StopReason::shutting_down, now);
}

// --- the end -------------------------------------------------------------------------------------

void Session::fail(const Failure& failure, Time now) {
  failure_ = failure;
  if (state_ == State::finishing) return close("server_failed", &*failure_, now);
  state_ = State::failed;
  answer_kept_with_failure();
  // A host that has not sent a request yet would see a server that vanished. Its first request is
  // answered with the cause; so is a request that was on its way at the end.
  const Timeouts timeouts = server_ == nullptr ? Timeouts{} : server_->timeouts;
  effects_.set_deadline(host_has_asked_ ? Milliseconds{0} : timeouts.handshake);
  effects_.set_host_flow(HostFlow::flowing);
}

void Session::deadline(Time now) {
  if (state_ == State::finishing) return leave(now);
  if (state_ == State::draining) return stop(StopReason::shutting_down, now);
  if (state_ == State::failed) return close("server_failed", &*failure_, now);
}

void Session::leave(Time now) {
  constexpr std::string_view reason = "host_closed";
  if (route_) route_->cancel_all(reason, now);
  close(reason, nullptr, now);
}

void Session::stop(StopReason reason, Time now) {
  if (state_ == State::closing) return;
  const bool stopped = reason == StopReason::stopped;
  end_with(stopped ? "stopped" : "shutting_down",
           stopped ? stopped_by_user(server_) : shutting_down(server_), now);
}

void Session::end_with(std::string_view reason, const Failure& failure, Time now) {
  if (state_ == State::attaching) {
    note_labels();
    effects_.to_control(error_reply(attachment_.id(), failure));
  }
  if (route_) route_->fail_all(failure, now);
  close(reason, &failure, now);
}

bool Session::has_revoked_token() const {
  if (peer_.via != wire::SessionVia::http_token) return false;
  if (!config_.http) return true;
  const auto& tokens = config_.http->tokens;
  return peer_.token_index >= tokens.size() || tokens[peer_.token_index].revoked;
}

// A reload ends the sessions that it finds. This one was granted before the reload and arrived
// after it: cellblock-http may still pass on requests of a token that the configuration has
// revoked.
void Session::refuse_revoked(std::string_view line, const Message& message, Time now) {
  const Failure failure = token_revoked();
  note(AuditKind::attach, AuditOutcome::denied, name_of(failure.code));
  if (message.kind == MessageKind::request) {
    reply_to_host(error_reply(message.id.in(line), failure));
  }
  end_with("stopped", failure, now);
}

// Comes first, since the old access points into the old rules.
std::optional<Failure> Session::renew_access() {
  if (has_revoked_token()) {
    access_.give_up();
    return token_revoked();
  }
  auto subject = std::optional(subject_of(config_.roles, who()));
  if (!role_.empty()) subject = as_role(config_.roles, *subject, role_);
  if (!subject) {
    access_.give_up();
    return role_refused(role_);
  }
  access_.narrow(config_, *subject);
  if (peer_.is_admin && !is_still_admin(config_, peer_.uid)) return no_admin_any_more();
  if (server_ == nullptr) return std::nullopt;
  if (server_->removed) return removed(*server_);
  return refuse_use(config_, access_, server_->name);
}

void Session::reconfigure(const ServerSet& changed, Time now) {
  const auto failure = renew_access();
  if (state_ == State::closing) return;
  // Ends with the cause if the server is left out.
  const bool is_left_out = failure && failure->code == FailureCode::server_failed;
  if (failure) return end_with(is_left_out ? "server_failed" : "stopped", *failure, now);
  if (route_) route_->reconfigure(changed, now);
}

void Session::drain(Milliseconds longest, Time now) {
  const bool is_served = state_ == State::attached || state_ == State::finishing;
  if (!is_served || !is_waited_for()) return stop(StopReason::shutting_down, now);
  if (state_ == State::attached) state_ = State::draining;
  effects_.set_deadline(longest);
}

void Session::stop_server(std::uint32_t server, Time now) {
  if (state_ == State::closing) return;
  const Failure failure = stopped_by_user(&config_.servers[server]);
  if (route_ && route_->stop_server(server, failure, now)) return;
  stop(StopReason::stopped, now);
}

void Session::renew_server(std::uint32_t server, Time now) {
  const bool is_served = route_ && (state_ == State::attached || state_ == State::finishing);
  const Failure failure = restarted_by_user(config_.servers[server]);
  if (!is_served || !route_->renew_server(server, failure, now)) {
    return stop_server(server, now);
  }
  route_answered(now);
}

void Session::replace_server(std::uint32_t server, Time now) {
  if (state_ == State::closing || !route_) return;
  route_->replace_server(server, now);
  route_answered(now);
}

void Session::list_changed(std::uint32_t server, mcp::ListKind kind, Time now) {
  if (state_ != State::closing && route_) route_->list_changed(server, kind, now);
}

void Session::tell_own_tools(Time now) {
  if (state_ == State::closing || !route_ || !kept_) return;
  if (kept_->offer().take_change()) route_->own_tools_changed(now);
}

void Session::close(std::string_view reason, const Failure* failure, Time now) {
  end_reads(reason, now);
  tell_end(reason, failure);
  note(AuditKind::session_closed, AuditOutcome::none, reason);
  state_ = State::closing;
  shared_.policy.flows.leave(peer_.session, now);
  effects_.drop_workspace();
  effects_.close_host();
  if (route_) route_->leave();
}

void Session::tell_end(std::string_view reason, const Failure* failure) {
  if (!attachment_.has_stdio()) return;
  std::string ended = ended_notification(reason, failure);
  const bool may_go_on = failure != nullptr && failure->code == FailureCode::shutting_down;
  const auto resume = may_go_on ? resume_text() : std::nullopt;
  if (!resume) return effects_.to_control(ended);
  effects_.tell_when_delivered(resumable_notification(reason, *resume), std::move(ended));
}

void Session::reply_to_host(std::string_view text) {
  effects_.to_host(std::array<std::string_view, 2>{text, "\n"});
}

AuditPlace Session::place() const {
  if (server_ == nullptr) return {};
  return {server_->name, route_ ? route_->cell() : 0};
}

void Session::note(AuditKind kind, AuditOutcome outcome, std::string_view reason) {
  effects_.record(place(),
                  {.kind = kind,
                   .outcome = outcome,
                   .tool = kind == AuditKind::attach ? std::string_view(role_) : std::string_view{},
                   .reason = reason});
}

}  // namespace cellblock::gateway
