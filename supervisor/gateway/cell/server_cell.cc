#include "supervisor/gateway/cell/server_cell.h"

#include <algorithm>
#include <utility>

#include "supervisor/gateway/cell/cell_failure.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {

using wire::AuditKind;
using wire::AuditOutcome;

namespace {

/// Of requests by which we ask whether it lives, in raw JSON; those of its users are numbers.
constexpr std::string_view sign_ids = "\"cellblock-sign-";

bool was_ended_on_purpose(GivenUp why) {
  return why == GivenUp::asked_to_stop || why == GivenUp::idle || why == GivenUp::evicted;
}

}  // namespace

bool is_shared(const Server& server, const CellPlan& plan) {
  return server.cells == CellSharing::per_user && plan.program == wire::CellProgram::server;
}

ServerCell::ServerCell(const Server& server, CellPlan plan, MessageScanner& scanner,
                       CellEffects& effects)
    : server_(server),
      plan_(plan),
      scanner_(scanner),
      effects_(effects),
      health_(server.stop, server.health) {
  if (is_shared(server, plan)) shared_.emplace(scanner, effects);
}

// --- by its users --------------------------------------------------------------------------------

void ServerCell::use(CellUser& user, Time now) {
  users_.push_back(&user);
  if (shared_) shared_->join(user);
  if (life_.state() == CellState::stopped) return start(now);
  const bool was_spare = std::exchange(is_spare_, false);
  if (was_spare && id_ != 0) note(AuditKind::attach, AuditOutcome::ok, plan_.purpose);
  if (!is_running()) return;
  if (was_spare) health_.begin(now);
  user.cell_running(now);
  if (was_spare && life_.state() == CellState::handshaking && !was_asked_) watch(now);
}

void ServerCell::start_spare(Time now) {
  is_spare_ = true;
  start(now);
}

void ServerCell::start(Time now) {
  since_ = now;
  act(life_.on(CellInput::start));
}

void ServerCell::leave(CellUser& user) {
  if (std::erase(users_, &user) == 0) return;
  if (shared_) {
    shared_->leave(user);
    return effects_.settle_soon();
  }
  if (users_.empty()) stop();
}

std::set<std::uint64_t> ServerCell::sessions() const {
  std::set<std::uint64_t> all;
  for (const CellUser* user : users_) all.insert(user->session());
  return all;
}

void ServerCell::stop() {
  if (!may_go_on()) return;
  if (cause_ == GivenUp::no) cause_ = GivenUp::asked_to_stop;
  // A spare one has nobody's work to finish.
  act(life_.on(is_spare_ ? CellInput::fault : CellInput::stop));
}

void ServerCell::say(CellUser& user, Slices message) {
  health_.host_spoke();
  ++said_;
  reply(user, message);
}

void ServerCell::reply(CellUser& user, Slices message) {
  if (shared_) return shared_->from_user(user, message);
  effects_.to_cell(message);
}

void ServerCell::tell(Time now) {
  if (shared_) shared_->tell(now);
}

void ServerCell::asked() {
  if (std::exchange(was_asked_, true)) return;
  if (life_.state() != CellState::handshaking || closed_) return;
  effects_.set_deadline(server_.timeouts.handshake);
}

// --- its life ------------------------------------------------------------------------------------

void ServerCell::act(CellAction action) {
  switch (action) {
    case CellAction::none:
      return;
    case CellAction::ask_start:
      return effects_.start_cell();
    case CellAction::withdraw_start:
      return effects_.withdraw_start();
    case CellAction::close_input:
      effects_.close_cell_input();
      return effects_.set_deadline(server_.timeouts.end_of_input);
    case CellAction::terminate:
      effects_.terminate_cell();
      return effects_.set_deadline(server_.timeouts.terminate);
    case CellAction::kill:
      effects_.kill_cell();
      return effects_.set_deadline(std::nullopt);
    case CellAction::report_impossible:
      return effects_.protocol_broken();
  }
}

void ServerCell::fault(GivenUp cause) {
  if (cause_ == GivenUp::no) cause_ = cause;
  act(life_.on(CellInput::fault));
}

// A process closes its pipes before anybody can learn how it ended. One that is killed now would
// look as if that had been our doing; so its end is waited for, and whoever lives on is killed.
void ServerCell::closed(GivenUp which) {
  if (closed_ || !is_running()) return;
  closed_ = which;
  effects_.set_deadline(exit_patience);
}

void ServerCell::started(std::uint64_t cell, Time now) {
  id_ = cell;
  since_ = now;
  if (!shared_ && !is_spare_) note(AuditKind::attach, AuditOutcome::ok, plan_.purpose);
  act(life_.on(CellInput::started));
  if (life_.state() == CellState::building) effects_.set_deadline(server_.timeouts.handshake);
}

void ServerCell::refused(wire::StartRefusal refusal, const CellFacts& facts, Time now) {
  act(life_.on(CellInput::refused));
  const EndedCell ended = end(facts, now);
  const Failure failure = failure_of_refusal(server_.name, refusal, ended);
  if (!failure.verdict.empty()) {
    note(AuditKind::attach, AuditOutcome::ok, plan_.purpose);
    return buried(ended, failure, now);
  }
  // There never was a cell: nothing of it ended, and nothing is wrong with the server.
  note(AuditKind::attach, AuditOutcome::denied, name_of(failure.code));
  tell_gone(failure, now);
}

void ServerCell::withheld(const Failure& failure, Time now) {
  const bool is_wanted = life_.state() == CellState::asked;
  act(life_.on(CellInput::refused));
  if (is_wanted) note(AuditKind::attach, AuditOutcome::denied, name_of(failure.code));
  tell_gone(failure, now);
}

void ServerCell::running(Time now) {
  act(life_.on(CellInput::running));
  if (users_.empty() && !shared_ && !is_spare_) return;
  note(AuditKind::cell_started, AuditOutcome::ok, "");
  effects_.set_deadline(std::nullopt);
  health_.begin(now);
  tell_users([now](CellUser& user) { user.cell_running(now); });
  if (life_.state() == CellState::handshaking && !was_asked_) watch(now);
  if (output_closed_) closed(GivenUp::closed_stdout);
}

void ServerCell::deadline(Time now) {
  const CellState state = life_.state();
  if (closed_ && is_running()) return fault(*closed_);
  const bool is_late = state == CellState::handshaking && was_asked_;
  if (state == CellState::building || is_late) return fault(GivenUp::handshake_timeout);
  if (is_running()) return watch(now);
  act(life_.on(CellInput::deadline));
}

void ServerCell::output_closed() {
  output_closed_ = true;
  closed(GivenUp::closed_stdout);
}

void ServerCell::input_broken(GivenUp how) {
  if (how == GivenUp::closed_stdin) return closed(how);
  if (is_running()) fault(how);
}

// Earlier, the set-up has failed and its report is on the way; later, it is what we asked for.
bool ServerCell::is_running() const {
  const CellState state = life_.state();
  return state == CellState::handshaking || state == CellState::ready;
}

bool ServerCell::may_go_on() const {
  const CellState state = life_.state();
  return state == CellState::asked || state == CellState::building || is_running();
}

// --- what it says --------------------------------------------------------------------------------

void ServerCell::line(std::string_view line, Time now) {
  if (users_.empty() && !shared_) return;
  health_.server_spoke(now);
  const auto message = scanner_.scan(line);
  if (!message) return refused_line(line, message.error(), now);
  invalid_output_.renew();
  const bool is_answer =
      message->kind == MessageKind::result || message->kind == MessageKind::error;
  if (is_answer && life_.state() == CellState::handshaking) {
    has_answered_ = true;
    if (!closed_) effects_.set_deadline(std::nullopt);
    act(life_.on(CellInput::answered));
    watch(now);
    if (was_asked_) effects_.handshake_answered();
  }
  if (is_answer && message->id.in(line).starts_with(sign_ids)) return;
  if (shared_) return shared_->from_cell(line, *message, now);
  // With one user everything is that user's, what was never asked for included: it is the user that
  // counts it.
  users_.front()->from_cell(line, *message, now);
}

void ServerCell::refused_line(std::string_view line, const Refused& refused, Time now) {
  if (!has_answered_) check_framing(framing_.line(line));
  if (refused.fault == MessageFault::empty_line || foreign_framing_) return;
  lose_answer(line, refused, now);
  if (invalid_output_.spend(line)) fault(GivenUp::too_much_noise);
}

// It has answered, and every further answer will be as unreadable: nothing is gained by waiting.
void ServerCell::check_framing(FramingDetector::Found found) {
  if (!found || life_.state() != CellState::handshaking) return;
  foreign_framing_ = found;
  fault(GivenUp::foreign_framing);
}

// What was meant as an answer is the only one that its call will get. Where it cannot be told whose
// it is, all calls in flight fail, for the reason given at line_too_long.
void ServerCell::lose_answer(std::string_view line, const Refused& refused, Time now) {
  const std::string_view id = refused.id.in(line);
  if (id.empty() && !may_be_an_answer(line, refused.fault)) return;
  const Failure failure = bad_answer(refused, &server_);
  if (!lose_answers(id, failure, now)) return;
  note(AuditKind::refused, AuditOutcome::error, name_of(failure.code));
}

bool ServerCell::lose_answers(std::string_view ours, const Failure& failure, Time now) {
  std::vector<std::string> all{std::string(ours)};
  if (shared_ && ours.empty()) shared_->lose_all();
  if (shared_ && !ours.empty()) {
    for (std::string& other : shared_->lost(ours)) all.push_back(std::move(other));
  }
  bool any = false;
  for (const std::string& one : all) {
    tell_users([&](CellUser& user) { any |= user.answer_lost(one, failure, now); });
  }
  return any;
}

// Its id may stand at its very end (the official TypeScript server writes it last), so nobody can
// say whose answer was skipped. One of the calls in flight will never be answered: all of them
// fail, since a wrong guess would leave a caller waiting for ever. Answers that still come are
// dropped.
void ServerCell::line_too_long(std::size_t seen, Time now) {
  if (users_.empty()) return;
  health_.server_spoke(now);
  note(AuditKind::refused, AuditOutcome::error, name_of(FailureCode::too_large));
  lose_answers("", line_too_large(seen, server_.lines.from_server, &server_), now);
}

// --- its end -------------------------------------------------------------------------------------

void ServerCell::ended(const CellFacts& facts, Time now) {
  const EndedCell ended = end(facts, now);
  act(life_.on(CellInput::ended));
  buried(ended, failure_of_end(server_.name, ended), now);
}

EndedCell ServerCell::end(const CellFacts& facts, Time now) const {
  EndedCell ended;
  ended.facts = facts;
  ended.handshake = has_answered_ ? Handshake::answered : Handshake::unanswered;
  ended.given_up = cause_;
  ended.memory_limit = server_.limits.memory_bytes;
  ended.age_ms =
      static_cast<std::uint64_t>(std::chrono::duration_cast<Milliseconds>(now - since_).count());
  ended.noise_lines = static_cast<unsigned>(invalid_output_.total());
  ended.first_noise = invalid_output_.first();
  ended.framing = foreign_framing_;
  const auto bind = static_cast<std::size_t>(facts.path_index);
  if (facts.path_index >= 0 && bind < server_.binds.size()) {
    ended.failed_path = server_.binds[bind].source;
  }
  if (facts.path_index == path_of_image) ended.failed_path = server_.image;
  if (facts.kind == EndKind::setup_failed) ended.broken = server_.found.broken;
  ended.stderr_tail = effects_.stderr_tail();
  ended.refused_network = effects_.refused_network(Time{});
  return with_true_cause(std::move(ended));
}

std::string ServerCell::network_advice(Time since) const {
  EndedCell cell;
  cell.refused_network = effects_.refused_network(since);
  const auto& refused = cell.refused_network;
  if (!refused || (refused->allow.empty() && !refused->is_all)) return {};
  cell.stderr_tail = effects_.stderr_tail();
  return advice_on_silence(cell);
}

void ServerCell::buried(const EndedCell& ended, const Failure& failure, Time now) {
  note(AuditKind::cell_ended,
       was_ended_on_purpose(ended.given_up) ? AuditOutcome::ok : AuditOutcome::error,
       failure.verdict.empty() ? name_of(failure.code) : std::string_view{failure.verdict});
  // How the probe ended says nothing about the server.
  if (plan_.program == wire::CellProgram::server) effects_.remember_end(failure);
  tell_gone(failure, now);
}

void ServerCell::tell_gone(const Failure& failure, Time now) {
  shared_.reset();
  while (!users_.empty()) {
    CellUser& user = *users_.front();
    users_.erase(users_.begin());
    user.cell_gone(failure, now);
  }
}

void ServerCell::note(AuditKind kind, AuditOutcome outcome, std::string_view reason) {
  effects_.record({.kind = kind, .outcome = outcome, .tool = {}, .reason = reason});
}

}  // namespace cellblock::gateway
