#include "supervisor/gateway/session.h"

#include <array>
#include <utility>

#include "supervisor/gateway/admission.h"
#include "supervisor/gateway/failures.h"
#include "supervisor/gateway/replies.h"
#include "supervisor/gateway/session_failures.h"

namespace cellblock::gateway {

namespace {

using wire::AuditKind;
using wire::AuditOutcome;

// Before attach there is nothing to say but cellblock's own small requests.
constexpr std::size_t max_control_line = 64U << 10;

// After its input has ended, a host may still wait for answers; a bridge must be gone within 2 s.
constexpr Milliseconds answers_grace{1'000};

}  // namespace

Session::Session(Peer peer, const Config& config, UpstreamIds& ids, MessageScanner& scanner,
                 SessionEffects& effects)
    : peer_(std::move(peer)), config_(config), ids_(ids), scanner_(scanner), effects_(effects) {}

// --- from the host -------------------------------------------------------------------------------

std::size_t Session::line_limit() const {
  return server_ == nullptr ? max_control_line : server_->lines.from_host;
}

void Session::host_line(std::string_view line, Time now) {
  if (state_ == State::closing) return;
  if (line.size() > line_limit()) return host_line_too_long(line.size());
  const auto message = scanner_.scan(line);
  if (!message) return malformed(line, message.error());
  if (message->method.starts_with(control_prefix)) return control(line, *message, now);
  mcp_from_host(line, *message, now);
}

void Session::malformed(std::string_view line, const Refused& refused) {
  if (refused.fault == MessageFault::empty_line) return;
  ++malformed_;
  reply_to_host(
      protocol_error(refused.id.in(line), error_code_of(refused.fault), explain(refused.fault)));
}

void Session::host_line_too_long(std::size_t seen) {
  if (state_ == State::closing) return;
  ++malformed_;
  reply_to_host(error_reply("", line_too_large(seen, line_limit(), server_)));
}

void Session::mcp_from_host(std::string_view line, const Message& message, Time now) {
  if (state_ == State::failed) return answer_with_failure(line, message);
  if (state_ != State::attached) return answer_without_server(line, message);
  if (message.kind == MessageKind::request) host_has_asked_ = true;
  leg_->from_host(line, message, now);
}

void Session::answer_without_server(std::string_view line, const Message& message) {
  if (message.kind != MessageKind::request) return;
  const Failure failure =
      plain_failure(FailureCode::not_attached, "select a server with cellblock/attach first");
  reply_to_host(error_reply(message.id.in(line), failure));
}

void Session::answer_with_failure(std::string_view line, const Message& message) {
  if (message.kind != MessageKind::request) return;
  const Era era = message.is_modern() ? Era::modern : Era::legacy;
  reply_to_host(
      Conversation::failed_reply(message.id.in(line), kind_of(message.method), era, *failure_));
  // One more turn of the loop, so that the requests that came with this one hear it too.
  effects_.set_deadline(Milliseconds{0});
}

void Session::host_ended(HostEnd how, Time now) {
  switch (state_) {
    case State::closing:
      return;
    case State::unattached:
    case State::failed:
      return close("host_closed", nullptr);
    case State::attached:
      if (how == HostEnd::gone || leg_->in_flight() == 0) return leave(now);
      state_ = State::finishing;
      return effects_.set_deadline(answers_grace);
    case State::finishing:
      if (how == HostEnd::gone) leave(now);
      return;
    case State::attaching:
      return leave(now);
  }
}

// --- cellblock's own requests --------------------------------------------------------------------

void Session::control(std::string_view line, const Message& message, Time now) {
  if (message.kind != MessageKind::request) return;
  const std::string_view id = message.id.in(line);
  const auto request = parse_control(message.method, message.params.in(line));
  if (!request) return reply_to_host(error_reply(id, request.error()));
  if (request->method == ControlMethod::attach) {
    if (state_ == State::unattached) return attach(id, *request, now);
    return reply_to_host(error_reply(
        id, plain_failure(FailureCode::invalid_request, "this connection is attached already")));
  }
  if (request->method != ControlMethod::status) {
    if (const auto failure = refuse_use(config_, who(), request->server)) {
      return reply_to_host(error_reply(id, *failure));
    }
  }
  reply_to_host(result_reply(id, effects_.answer_control(*request)));
}

std::optional<Failure> Session::refuse_to_attach(const std::string& name) const {
  if (auto failure = refuse_attach(config_, who(), name, effects_.audit_state())) return failure;
  return attachment_.refusal(*find_server(config_, name));
}

CellPlan Session::plan_of(const Server& server) const {
  return {.server = static_cast<std::uint32_t>(&server - config_.servers.data()),
          .program = attachment_.program(),
          .has_workspace = attachment_.has_workspace(),
          .purpose = attachment_.purpose()};
}

void Session::attach(std::string_view id, const ControlRequest& request, Time now) {
  attachment_ = Attachment(id, request);
  attachment_.take(effects_.take_descriptors(attachment_.offer()));
  if (const auto failure = refuse_to_attach(request.server)) {
    note(AuditKind::attach, AuditOutcome::denied, name_of(failure->code));
    return attach_failed(*failure);
  }
  server_ = find_server(config_, request.server);
  LegEffects& effects = *this;
  leg_ = std::make_unique<Leg>(*server_, plan_of(*server_), ids_, effects);
  state_ = State::attaching;
  effects_.set_host_flow(HostFlow::held);
  leg_->start(now);
}

void Session::attach_failed(const Failure& failure) {
  effects_.to_control(error_reply(attachment_.id(), failure));
  if (attachment_.has_stdio()) return fail(failure);
  // The connection is as before: its owner may ask for the logs, or try again. The leg is in the
  // middle of telling us; the next attach replaces it.
  state_ = State::unattached;
  server_ = nullptr;
  effects_.set_host_flow(HostFlow::flowing);
}

// --- from the leg --------------------------------------------------------------------------------

void Session::leg_running(Time /*now*/) {
  state_ = State::attached;
  effects_.to_control(attachment_.answer(*server_, peer_.session, leg_->cell()));
  effects_.set_host_flow(HostFlow::flowing);
}

void Session::leg_lost(const Failure& failure, Time now) {
  if (state_ == State::attaching) return attach_failed(failure);
  leg_->fail_all(failure, now);
  fail(failure);
}

void Session::leg_answered(Time now) {
  if (state_ == State::finishing && leg_->in_flight() == 0) leave(now);
}

// --- the end -------------------------------------------------------------------------------------

void Session::fail(const Failure& failure) {
  failure_ = failure;
  if (state_ == State::finishing) return close("host_closed", nullptr);
  state_ = State::failed;
  // A host that has not asked anything yet would see a server that vanished. It hears the cause in
  // answer to its first request; a request that crossed the end on its way hears it as well.
  const Timeouts timeouts = server_ == nullptr ? Timeouts{} : server_->timeouts;
  effects_.set_deadline(host_has_asked_ ? Milliseconds{0} : timeouts.handshake);
  effects_.set_host_flow(HostFlow::flowing);
}

void Session::deadline(Time now) {
  if (state_ == State::finishing) return leave(now);
  if (state_ == State::failed) return close("server_failed", &*failure_);
}

void Session::leave(Time now) {
  constexpr std::string_view reason = "host_closed";
  leg_->cancel_all(reason, now);
  close(reason, nullptr);
  leg_->leave();
}

void Session::stop(StopReason reason, Time now) {
  if (state_ == State::closing) return;
  const bool stopped = reason == StopReason::stopped;
  const Failure failure = stopped ? stopped_by_user(server_) : shutting_down(server_);
  if (state_ == State::attaching) effects_.to_control(error_reply(attachment_.id(), failure));
  if (leg_) leg_->fail_all(failure, now);
  close(stopped ? "stopped" : "shutting_down", &failure);
  if (leg_) leg_->leave();
}

void Session::close(std::string_view reason, const Failure* failure) {
  if (attachment_.has_stdio()) effects_.to_control(ended_notification(reason, failure));
  note(AuditKind::session_closed, AuditOutcome::none, reason);
  state_ = State::closing;
  effects_.close_host();
}

void Session::reply_to_host(std::string_view text) {
  effects_.to_host(std::array<std::string_view, 2>{text, "\n"});
}

void Session::note(AuditKind kind, AuditOutcome outcome, std::string_view reason) {
  const std::string_view server = server_ == nullptr ? std::string_view{} : server_->name;
  effects_.record({server, cell()},
                  {.kind = kind, .outcome = outcome, .tool = {}, .reason = reason});
}

}  // namespace cellblock::gateway
