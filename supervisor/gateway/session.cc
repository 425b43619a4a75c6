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

void Session::host_line(std::string_view line, Time now) {
  if (state_ == State::closing) return;
  const std::size_t limit = server_ == nullptr ? max_control_line : server_->lines.from_host;
  if (line.size() > limit) return host_line_too_long(line.size(), now);
  const auto message = scanner_.scan(line);
  if (!message) return malformed(line, message.error());
  message_from_host(line, *message, now);
}

void Session::malformed(std::string_view line, const Refused& refused) {
  if (refused.fault == MessageFault::empty_line) return;
  ++malformed_;
  reply_to_host(
      protocol_error(refused.id.in(line), error_code_of(refused.fault), explain(refused.fault)));
}

void Session::host_line_too_long(std::size_t seen, Time /*now*/) {
  if (state_ == State::closing) return;
  ++malformed_;
  const std::uint64_t limit = server_ == nullptr ? max_control_line : server_->lines.from_host;
  reply_to_host(error_reply("", line_too_large(seen, limit, server_)));
}

void Session::message_from_host(std::string_view line, const Message& message, Time now) {
  if (message.method.starts_with(control_prefix)) return control(line, message, now);
  mcp_from_host(line, message, now);
}

void Session::mcp_from_host(std::string_view line, const Message& message, Time now) {
  const bool is_request = message.kind == MessageKind::request;
  if (state_ == State::failed) return answer_with_failure(line, message);
  if (state_ != State::attached) {
    if (!is_request) return;
    const Failure failure =
        plain_failure(FailureCode::not_attached, "select a server with cellblock/attach first");
    return reply_to_host(error_reply(message.id.in(line), failure));
  }
  // The clock of the handshake starts when there is something to answer: a host that attaches and
  // takes its time does not make its server late.
  if (is_request && !std::exchange(host_has_asked_, true)) {
    if (cell_.state() == CellState::handshaking) effects_.set_deadline(server_->timeouts.handshake);
  }
  conversation_->from_host(line, message, now);
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
      if (how == HostEnd::end_of_input && conversation_->in_flight() != 0) {
        state_ = State::finishing;
        return effects_.set_deadline(answers_grace);
      }
      return leave("host_closed", "host_closed", now);
    case State::finishing:
      if (how == HostEnd::end_of_input) return;
      [[fallthrough]];
    case State::attaching:
      return leave("host_closed", "host_closed", now);
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

void Session::attach(std::string_view id, const ControlRequest& request, Time now) {
  attachment_ = Attachment(id, request);
  attachment_.take(effects_.take_descriptors(attachment_.offer()));
  if (const auto failure = refuse_to_attach(request.server)) {
    note(AuditKind::attach, AuditOutcome::denied, name_of(failure->code));
    return attach_failed(*failure, now);
  }
  server_ = find_server(config_, request.server);
  server_index_ = static_cast<std::uint32_t>(server_ - config_.servers.data());
  state_ = State::attaching;
  cell_since_ = now;
  effects_.set_host_flow(HostFlow::held);
  act(cell_.on(CellInput::start));
}

void Session::attach_failed(const Failure& failure, Time now) {
  effects_.to_control(error_reply(attachment_.id(), failure));
  if (attachment_.has_stdio()) return fail_session(failure, now);
  // The connection is as before: its owner may ask for the logs, or try again.
  state_ = State::unattached;
  server_ = nullptr;
  cell_ = CellLifetime{};
  cell_id_ = 0;
  cause_ = GivenUp::no;
  output_closed_ = false;
  noise_ = NoiseBudget{};
  effects_.set_deadline(std::nullopt);
  effects_.set_host_flow(HostFlow::flowing);
}

// --- from the launcher and the cell --------------------------------------------------------------

void Session::act(CellAction action) {
  switch (action) {
    case CellAction::none:
      return;
    case CellAction::ask_start:
      return effects_.start_cell(server_index_, attachment_.program());
    case CellAction::close_input:
      effects_.close_cell_input();
      return effects_.set_deadline(server_->timeouts.end_of_input);
    case CellAction::terminate:
      effects_.terminate_cell();
      return effects_.set_deadline(server_->timeouts.terminate);
    case CellAction::kill:
      effects_.kill_cell();
      return effects_.set_deadline(std::nullopt);
    case CellAction::report_impossible:
      return effects_.protocol_broken();
  }
}

void Session::fault(GivenUp cause) {
  if (cause_ == GivenUp::no) cause_ = cause;
  act(cell_.on(CellInput::fault));
}

void Session::cell_started(std::uint64_t cell, Time now) {
  cell_id_ = cell;
  cell_since_ = now;
  note(AuditKind::attach, AuditOutcome::ok, attachment_.purpose());
  act(cell_.on(CellInput::started));
  if (state_ == State::attaching) effects_.set_deadline(server_->timeouts.handshake);
}

void Session::cell_refused(wire::StartRefusal refusal, const CellFacts& facts, Time now) {
  act(cell_.on(CellInput::refused));
  const EndedCell ended = end_of_cell(facts, now);
  const Failure failure = failure_of_refusal(server_->name, refusal, ended);
  if (!failure.verdict.empty()) {
    note(AuditKind::attach, AuditOutcome::ok, attachment_.purpose());
    return cell_is_gone(ended, failure, now);
  }
  // There never was a cell: nothing of it ended, and nothing is wrong with the server.
  note(AuditKind::attach, AuditOutcome::denied, name_of(failure.code));
  if (state_ == State::attaching) attach_failed(failure, now);
}

void Session::cell_running() {
  act(cell_.on(CellInput::running));
  if (state_ != State::attaching) return;
  state_ = State::attached;
  conversation_.emplace(*server_, attachment_.program(), ids_, effects_);
  note(AuditKind::cell_started, AuditOutcome::ok, "");
  effects_.set_deadline(std::nullopt);
  effects_.to_control(attachment_.answer(*server_, peer_.session, cell_id_));
  effects_.set_host_flow(HostFlow::flowing);
  if (output_closed_) fault(GivenUp::closed_stdout);
}

void Session::cell_line(std::string_view line, Time now) {
  if (state_ != State::attached && state_ != State::finishing) return;
  const auto message = scanner_.scan(line);
  if (!message) return refused_from_cell(line, message.error(), now);
  noise_.renew();
  const bool is_answer =
      message->kind == MessageKind::result || message->kind == MessageKind::error;
  if (is_answer && cell_.state() == CellState::handshaking) {
    has_answered_ = true;
    act(cell_.on(CellInput::answered));
    if (state_ == State::attached) effects_.set_deadline(std::nullopt);
  }
  conversation_->from_cell(line, *message, now);
  leave_if_answered(now);
}

void Session::leave_if_answered(Time now) {
  if (state_ == State::finishing && conversation_->in_flight() == 0) {
    leave("host_closed", "host_closed", now);
  }
}

void Session::refused_from_cell(std::string_view line, const Refused& refused, Time now) {
  if (refused.fault == MessageFault::empty_line) return;
  fail_answer(line, refused, now);
  if (noise_.spend(line)) fault(GivenUp::too_much_noise);
  leave_if_answered(now);
}

// What was meant as an answer is the only one that its call will get. Where it cannot be told whose
// it is, all calls in flight fail, for the reason given at cell_line_too_long.
void Session::fail_answer(std::string_view line, const Refused& refused, Time now) {
  const std::string_view id = refused.id.in(line);
  if (conversation_->in_flight() == 0) return;
  if (id.empty() && !may_be_an_answer(line, refused.fault)) return;
  const Failure failure = bad_answer(refused, server_);
  if (id.empty()) {
    conversation_->fail_all(failure, now);
  } else if (!conversation_->fail(id, failure, now)) {
    return;
  }
  note(AuditKind::refused, AuditOutcome::error, name_of(failure.code));
}

// Its id may stand at its very end (the official TypeScript server writes it last), so nobody can
// say whose answer was skipped. One of the calls in flight will never be answered: all of them
// fail, since a wrong guess would leave a caller waiting for ever. Answers that still come are
// dropped.
void Session::cell_line_too_long(std::size_t seen, Time now) {
  if (state_ != State::attached && state_ != State::finishing) return;
  note(AuditKind::refused, AuditOutcome::error, name_of(FailureCode::too_large));
  conversation_->fail_all(line_too_large(seen, server_->lines.from_server, server_), now);
  if (state_ == State::finishing) leave("host_closed", "host_closed", now);
}

void Session::cell_output_closed() {
  output_closed_ = true;
  if (cell_is_in_use()) fault(GivenUp::closed_stdout);
}

void Session::cell_input_broken(GivenUp how) {
  if (cell_is_in_use()) fault(how);
}

// Earlier, the set-up has failed and its report is on the way; later, it is what we asked for.
bool Session::cell_is_in_use() const {
  const CellState state = cell_.state();
  return state == CellState::handshaking || state == CellState::ready;
}

void Session::cell_ended(const CellFacts& facts, Time now) {
  const EndedCell ended = end_of_cell(facts, now);
  act(cell_.on(CellInput::ended));
  cell_is_gone(ended, failure_of_end(server_->name, ended), now);
}

EndedCell Session::end_of_cell(const CellFacts& facts, Time now) const {
  EndedCell ended;
  ended.facts = facts;
  ended.handshake = has_answered_ ? Handshake::answered : Handshake::unanswered;
  ended.given_up = cause_;
  ended.memory_limit = server_->limits.memory_bytes;
  ended.age_ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<Milliseconds>(now - cell_since_).count());
  ended.noise_lines = static_cast<unsigned>(noise_.total());
  ended.first_noise = noise_.first();
  const auto bind = static_cast<std::size_t>(facts.path_index);
  if (facts.path_index >= 0 && bind < server_->binds.size()) {
    ended.failed_path = server_->binds[bind].source;
  }
  ended.stderr_tail = effects_.stderr_tail(cell_id_);
  return with_true_cause(std::move(ended));
}

void Session::cell_is_gone(const EndedCell& ended, Failure failure, Time now) {
  note(AuditKind::cell_ended,
       ended.given_up == GivenUp::asked_to_stop ? AuditOutcome::ok : AuditOutcome::error,
       failure.verdict.empty() ? name_of(failure.code) : std::string_view{failure.verdict});
  // How the probe ended says nothing about the server.
  if (attachment_.program() == wire::CellProgram::server) {
    effects_.remember_end(server_index_, failure);
  }
  if (state_ == State::attaching) return attach_failed(failure, now);
  if (state_ == State::attached || state_ == State::finishing) {
    fail_session(std::move(failure), now);
  }
}

// --- the end -------------------------------------------------------------------------------------

void Session::fail_session(Failure failure, Time now) {
  if (conversation_) conversation_->fail_all(failure, now);
  failure_ = std::move(failure);
  if (state_ == State::finishing) return close("host_closed", nullptr);
  state_ = State::failed;
  // A host that has not asked anything yet would see a server that vanished. It hears the cause in
  // answer to its first request; a request that crossed the end on its way hears it as well.
  const Timeouts timeouts = server_ == nullptr ? Timeouts{} : server_->timeouts;
  effects_.set_deadline(host_has_asked_ ? Milliseconds{0} : timeouts.handshake);
  effects_.set_host_flow(HostFlow::flowing);
}

void Session::deadline(Time now) {
  if (state_ == State::finishing) return leave("host_closed", "host_closed", now);
  if (state_ == State::failed) return close("server_failed", &*failure_);
  const CellState cell = cell_.state();
  if (cell == CellState::building || cell == CellState::handshaking) {
    return fault(GivenUp::handshake_timeout);
  }
  act(cell_.on(CellInput::deadline));
}

void Session::leave(std::string_view reason, std::string_view cancel_reason, Time now) {
  if (conversation_) conversation_->cancel_all(cancel_reason, now);
  if (cause_ == GivenUp::no) cause_ = GivenUp::asked_to_stop;
  close(reason, nullptr);
  act(cell_.on(CellInput::stop));
}

void Session::stop(StopReason reason, Time now) {
  if (state_ == State::closing) return;
  const bool stopped = reason == StopReason::stopped;
  const Failure failure = stopped ? stopped_by_user(server_) : shutting_down(server_);
  if (cause_ == GivenUp::no) cause_ = GivenUp::asked_to_stop;
  if (state_ == State::attaching) effects_.to_control(error_reply(attachment_.id(), failure));
  if (conversation_) conversation_->fail_all(failure, now);
  close(stopped ? "stopped" : "shutting_down", &failure);
  act(cell_.on(CellInput::stop));
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
  effects_.record({.kind = kind, .outcome = outcome, .tool = {}, .reason = reason});
}

}  // namespace cellblock::gateway
