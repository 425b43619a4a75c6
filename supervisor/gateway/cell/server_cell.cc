#include "supervisor/gateway/cell/server_cell.h"

#include <array>
#include <csignal>
#include <utility>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/request_meta.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {

namespace {

using wire::AuditKind;
using wire::AuditOutcome;

/// Of requests by which we ask whether it lives, in raw JSON; those of its users are numbers.
constexpr std::string_view sign_ids = "\"cellblock-sign-";

bool was_ended_on_purpose(GivenUp why) {
  return why == GivenUp::asked_to_stop || why == GivenUp::idle || why == GivenUp::evicted;
}

std::string explain_too_many(const std::string& server, wire::StartRefusal refusal) {
  switch (refusal) {
    case wire::StartRefusal::too_many_cells:
      return "this user has as many cells of this server as are allowed";
    case wire::StartRefusal::too_many_cells_in_all:
      return "this user, or all users together, have as many cells as cellblock runs";
    case wire::StartRefusal::no_free_identity:
      return "every id that daemon.id_range has for servers is given, one to each server and user "
             "for good: make the range larger";
    default:
      return "the home of server \"" + server + "\" is just being cleared";
  }
}

std::string explain_workspace(const std::string& server, wire::StartRefusal refusal) {
  if (refusal == wire::StartRefusal::workspace_refused) {
    return "the workspace is not a directory that workspace.allow of server \"" + server +
           "\" names";
  }
  return "workspace.allow of server \"" + server +
         "\" names this directory, but it was not there when cellblockd started: restart "
         "cellblockd";
}

std::string explain_identity(const std::string& server, wire::StartRefusal refusal) {
  if (refusal == wire::StartRefusal::client_without_name) {
    return "env of server \"" + server +
           "\" has ${client.user}, and the account database has no name for this user that can be "
           "passed on";
  }
  return "server \"" + server +
         "\" runs as its client (run_as), and this user cannot be one: it needs an account, named "
         "by allow.users or a member of allow.groups that can be listed when cellblockd starts "
         "(restart it for a newer account); root, the system's accounts and cellblock's own ids "
         "are "
         "none";
}

}  // namespace

EndedCell with_true_cause(EndedCell ended) {
  const CellFacts& facts = ended.facts;
  const bool by_kill = facts.kind == EndKind::signalled && facts.signal == SIGKILL;
  const bool by_itself = facts.kind != EndKind::not_ended && !by_kill;
  const bool only_a_sign =
      ended.given_up == GivenUp::closed_stdout || ended.given_up == GivenUp::closed_stdin;
  if (only_a_sign && by_itself) ended.given_up = GivenUp::no;
  return ended;
}

Failure failure_of_end(const std::string& server, const EndedCell& ended) {
  const CrashVerdict verdict = judge_end(ended);
  const bool late = verdict.verdict == Verdict::handshake_timeout;
  Failure failure =
      plain_failure(late ? FailureCode::handshake_timeout : FailureCode::server_failed,
                    describe(server, verdict), server);
  failure.verdict = name_of(verdict.verdict);
  failure.cause = verdict.cause;
  failure.advice = verdict.advice;
  failure.facts = ended.facts;
  failure.stderr_tail = shown_lines(ended.stderr_tail);
  return failure;
}

Failure failure_of_refusal(const std::string& server, wire::StartRefusal refusal,
                           const EndedCell& ended) {
  switch (refusal) {
    case wire::StartRefusal::too_many_cells:
    case wire::StartRefusal::too_many_cells_in_all:
    case wire::StartRefusal::no_free_identity:
    case wire::StartRefusal::home_in_use:
      return plain_failure(FailureCode::too_many, explain_too_many(server, refusal), server);
    case wire::StartRefusal::disabled:
      return plain_failure(FailureCode::disabled, "cellblock is switched off");
    case wire::StartRefusal::not_permitted:
      return plain_failure(FailureCode::not_allowlisted,
                           "server \"" + server + "\" is not this user's to use any more", server);
    case wire::StartRefusal::workspace_refused:
    case wire::StartRefusal::workspace_came_later:
      return plain_failure(FailureCode::workspace_refused, explain_workspace(server, refusal),
                           server);
    case wire::StartRefusal::identity_not_mapped:
    case wire::StartRefusal::client_without_name:
      return plain_failure(FailureCode::identity_not_mapped, explain_identity(server, refusal),
                           server);
    case wire::StartRefusal::none:
    case wire::StartRefusal::setup_failed:
      break;
  }
  return failure_of_end(server, ended);
}

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

bool ServerCell::lose_answers(std::string_view own_id, const Failure& failure, Time now) {
  std::vector<std::string> all{std::string(own_id)};
  if (shared_ && own_id.empty()) shared_->lose_all();
  if (shared_ && !own_id.empty()) {
    for (std::string& other : shared_->lost(own_id)) all.push_back(std::move(other));
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

// What the health checks (cell_health.h) ask of a cell.

// A probe or a survey has an end of its own.
bool ServerCell::is_watched() const {
  return plan_.program == wire::CellProgram::server &&
         (shared_ ||
          std::ranges::any_of(users_, [](const CellUser* user) { return user->session() != 0; }));
}

bool ServerCell::is_busy(Time now) const {
  return std::ranges::any_of(users_, [now](const CellUser* user) { return user->is_busy(now); });
}

bool ServerCell::is_awaited(Time now) const {
  return std::ranges::any_of(users_, [now](const CellUser* user) { return user->is_awaited(now); });
}

bool ServerCell::is_amid_list(Time now) const {
  return std::ranges::any_of(users_,
                             [now](const CellUser* user) { return user->is_amid_list(now); });
}

void ServerCell::watch(Time now) {
  if (!is_watched() || closed_) return;
  const bool may_ask = life_.state() == CellState::ready && era_;
  const CellHealth::Look look = health_.look(is_busy(now), may_ask, now);
  switch (look.action) {
    case CellHealth::Action::none:
      break;
    case CellHealth::Action::ask:
      ask_for_a_sign();
      break;
    case CellHealth::Action::stop:
      return stop_unneeded(GivenUp::idle, now);
    case CellHealth::Action::give_up:
      return fault(GivenUp::unresponsive);
  }
  effects_.set_deadline(look.next);
}

// The modern era has no `ping`.
void ServerCell::ask_for_a_sign() {
  const bool is_modern = *era_ == Era::modern;
  Json params;
  if (is_modern) {
    params = Json::object();
    stamp_request(params, Json::object(), "");
  }
  const std::string text =
      request_text("cellblock-sign-" + std::to_string(++signs_),
                   is_modern ? mcp::method::discover : mcp::method::ping, params);
  effects_.to_cell(std::array<std::string_view, 2>{text, "\n"});
  effects_.settle_soon();
}

// What is only being built has somebody who waits for it, or is spare.
bool ServerCell::may_give_way(Time now) const {
  if (is_spare_) return may_go_on();
  const bool may_end_idle = server_.stop.idle.has_value();
  return is_running() && may_end_idle && !is_retired_ && is_watched() && !is_busy(now);
}

void ServerCell::stop_unneeded(GivenUp why, Time now) {
  cause_ = why;
  retire();
  tell_users([now](CellUser& user) { user.let_go(now); });
  stop();
}

}  // namespace cellblock::gateway
