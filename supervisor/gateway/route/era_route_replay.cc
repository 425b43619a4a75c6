#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/message/written_message.h"
#include "supervisor/gateway/route/era_route.h"

namespace cellblock::gateway {

// A legacy host's session in the next cell of its server (session_replay.h).

bool EraRoute::session_is_in_cell() const {
  if (parts_.plan.program == wire::CellProgram::probe) return true;
  if (!host_era_) return parts_.start == StartWhen::now;
  return !bridge_ && host_era_ != Era::modern && !replay_.is_possible();
}

void EraRoute::deliver_to_host(Slices message) {
  if (replay_.listens()) {
    const WrittenMessage written(parts_.shared.scanner, joined(message));
    if (written.message() && replay_.answered(written.line(), *written.message())) return;
  }
  server_route_.to_host(message);
}

void EraRoute::answered(Time now) {
  settle_replay(now);
  if (is_replacing_ && is_quiet()) take_next_cell(now);
  server_route_.era_route_answered(now);
}

void EraRoute::start_replay(Time now) {
  resend(replay_.begin(), now);
  settle_replay(now);
}

// As the host said it: past permission, redaction and the audit log, and not twice for the bridge.
void EraRoute::resend(std::string text, Time now) {
  const WrittenMessage written(parts_.shared.scanner, std::move(text));
  if (!written.message()) return fail_unreadable(written.message().error(), now);
  if (bridge_) {
    bridge_->from_host(written.line(), *written.message(), now);
    return drain(now);
  }
  if (written.message()->kind == MessageKind::request) cell_->asked();
  upstream_->from_host(written.line(), *written.message(), now);
}

// Later than the answer itself: the upstream is in the middle of it.
void EraRoute::settle_replay(Time now) {
  switch (replay_.take_outcome()) {
    case SessionReplay::Outcome::none:
      return;
    case SessionReplay::Outcome::agreed:
      return finish_replay(now);
    case SessionReplay::Outcome::refused:
      return lose(plain_failure(FailureCode::server_failed,
                                fmt::format("server \"{}\" was started again, but this session "
                                            "cannot go on in its new cell: {}",
                                            server_.name, replay_.refusal()),
                                server_.name),
                  now);
  }
}

void EraRoute::finish_replay(Time now) {
  for (std::string& text : replay_.rest()) resend(std::move(text), now);
  for (std::string& text : replay_.missed()) {
    if (bridge_) {
      to_host(std::string_view(text));
    } else {
      inject_from_cell(std::move(text), now);
    }
  }
  advance(now);
}

void EraRoute::renew(const Failure& failure, Time now) {
  if (cell_ == nullptr && held_.awaited() == 0) return;
  fail_all(failure, now);
  leave();
}

// --- a cell that is to be another one ------------------------------------------------------------

void EraRoute::replace(Time now) {
  if (cell_ == nullptr || parts_.plan.program == wire::CellProgram::probe) return;
  is_replacing_ = true;
  open_ = false;
  if (is_quiet()) return take_next_cell(now);
  if (!replace_alarm_) {
    replace_alarm_ = services_.make_alarm([this](Time later) {
      if (!is_replacing_) return;
      take_next_cell(later);
      server_route_.era_route_answered(later);
    });
  }
  replace_alarm_->set(replace_patience);
}

bool EraRoute::is_quiet() const {
  if (!running_) return true;
  const bool is_asking = replay_.is_under_way() || first_list_.is_asking();
  return !is_asking && bridged_.empty() && upstream_->in_flight() == 0 &&
         (!bridge_ || bridge_->in_flight() == 0);
}

// Whoever has said nothing yet has no session to lose.
void EraRoute::take_next_cell(Time now) {
  const Failure failure = replaced_by_declaration(server_);
  const bool is_lost = host_era_ && session_is_in_cell();
  give_up_cell(failure, now);
  if (is_lost) return lose(failure, now);
  if (!host_era_) return start(now);
  server_route_.era_route_lost(*this, failure, now);
  if (!held_.empty()) advance(now);
}

// What is held is for the next one.
void EraRoute::give_up_cell(const Failure& failure, Time now) {
  if (bridge_) bridge_->fail_all(failure, now);
  if (upstream_) upstream_->fail_all(failure, now);
  bridged_.take_all();
  relay_.clear();
  initialize_.reset();
  leave();
  cell_era_.reset();
}

// --- a cell that nobody needs --------------------------------------------------------------------

bool EraRoute::is_busy(Time now) const {
  if (host_era_ && session_is_in_cell()) return true;
  const bool is_asking = replay_.is_under_way() || first_list_.is_asking() || is_replacing_;
  if (is_asking || !held_.empty() || !bridged_.empty()) return true;
  if (bridge_ && bridge_->in_flight() != 0) return true;
  return upstream_ && (!upstream_->is_at_rest(now) || is_listened_to());
}

// Who attached to have it started waits for that; with start.when = "session" nobody does.
bool EraRoute::is_awaited(Time now) const { return parts_.start == StartWhen::now || is_busy(now); }

// All servers as one open their streams of lists again, and ask for the lists, when the next cell
// runs; a host of one server cannot know when to.
bool EraRoute::is_listened_to() const {
  if (replay_.has_subscriptions()) return true;
  const Listening what = bridge_ ? bridge_->listening() : upstream_->listening();
  const bool is_of_all = parts_.of == RouteOf::all_servers;
  return what == Listening::more || (what == Listening::lists && !is_of_all);
}

void EraRoute::let_go(Time now) {
  const Failure failure = stopped_idle(server_);
  give_up_cell(failure, now);
  if (host_era_) server_route_.era_route_lost(*this, failure, now);
}

// Calls that an era route makes again in its next cell.

CallStates EraRoute::call_states() const {
  return {.is_in_flight = [this](std::string_view id) { return is_in_flight(id); },
          .is_unsent =
              [this](std::string_view id) {
                if (!upstream_) return false;
                if (!bridge_) return upstream_->is_unsent(id);
                const std::uint64_t asked = bridge_->asked_as(id);
                const std::string own_id = std::to_string(asked);
                return asked != 0 && (bridged_.has(own_id) || upstream_->is_unsent(own_id));
              }};
}

// Only where the next cell can be told all that this one was: what a host has begun itself
// (`initialize`, and what came after it) nobody else can begin again.
std::vector<HeldMessage> EraRoute::withdraw_for_retry(const Failure& failure, Time now) {
  if (session_is_in_cell()) return {};
  std::vector<HeldMessage> again = retries_.take(failure, call_states(), now);
  for (const HeldMessage& held : again) withdraw(held.message.id.in(held.line), failure, now);
  return again;
}

// Without an answer to the host. What the bridge says to the server about it goes nowhere: that one
// is gone, and the relay is cleared.
void EraRoute::withdraw(std::string_view id, const Failure& failure, Time now) {
  // A retry that has not been sent yet: whoever holds it as well would answer it a second time.
  if (held_.drop(id)) return;
  if (!bridge_) return upstream_->forget(id, name_of(failure.code), now);
  const WrittenMessage written(
      parts_.shared.scanner,
      fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{{"requestId":{}}}}})",
                  mcp::notification::cancelled, id));
  if (written.message()) bridge_->from_host(written.line(), *written.message(), now);
}

void EraRoute::retry_soon() {
  if (!retry_alarm_) {
    retry_alarm_ = services_.make_alarm([this](Time now) {
      if (cell_ == nullptr && held_.awaited() != 0) advance(now);
    });
  }
  retry_alarm_->set(retries_.pause(parts_.shared.ids.next()));
}

// Nothing was sent, so nothing has to be cancelled. `initialize` may not be.
bool EraRoute::dropped_held(const Message& message, std::string_view line, Time now) {
  if (message.method != mcp::notification::cancelled) return false;
  const std::string_view id = message.request_id.in(line);
  if (!held_.drop(id)) return false;
  retries_.forget(id);
  answered(now);
  return true;
}

}  // namespace cellblock::gateway
