#include <fcntl.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "policy/access/rights.h"
#include "supervisor/gateway/cell/eviction.h"
#include "supervisor/gateway/gateway.h"
#include "supervisor/os/clock.h"

/// Cells between those who need them and the launcher.
namespace cellblock::gateway {
namespace {

// A session waits for it, and what it needs is still there.
bool may_wait(const ServerCell& cell, const Fd& workspace) {
  return cell.state() == CellState::asked && !cell.is_spare() &&
         cell.plan().program == wire::CellProgram::server &&
         cell.plan().has_workspace == workspace.valid();
}

}  // namespace

void Gateway::ask_launcher(CellRunner& cell, Fd workspace, std::optional<Time> room_until) {
  const std::uint32_t request = next_request_++;
  const CellPlan& plan = cell.cell().plan();
  Fd copy = workspace.valid() ? Fd(::fcntl(workspace.get(), F_DUPFD_CLOEXEC, 0)) : Fd();
  asked_[request] = {&cell, std::move(copy), room_until};
  launcher_.start_cell(request, plan.server, plan.program, std::move(workspace));
}

void Gateway::cell_event(const wire::CellEvent& event, std::vector<Fd> pipes) {
  if (lost_cells_.contains(event.cell)) {
    if (event.kind == wire::CellEventKind::ended) lost_cells_.erase(event.cell);
    return;
  }
  switch (event.kind) {
    case wire::CellEventKind::started:
    case wire::CellEventKind::refused:
      return cell_answered(event, std::move(pipes));
    case wire::CellEventKind::running:
    case wire::CellEventKind::ended:
      return cell_news(event);
    case wire::CellEventKind::denied:
      return cell_denied(event);
    case wire::CellEventKind::usage:
      return usage_told(event.usage);
    case wire::CellEventKind::home:
      return home_told(event);
  }
  give_up("an unknown event from the launcher");
}

void Gateway::cell_answered(const wire::CellEvent& event, std::vector<Fd> pipes) {
  const auto asked = asked_.find(event.request);
  if (asked == asked_.end()) return give_up("an answer from the launcher that nobody asked for");
  Asked answered = std::move(asked->second);
  CellRunner& cell = *answered.cell;
  asked_.erase(asked);
  start_queue_.launcher_answered();
  if (event.kind == wire::CellEventKind::refused) return cell_refused(std::move(answered), event);
  if (pipes.empty()) return cell_lost(cell, event);
  cells_[event.cell] = &cell;
  usage_.cell_started(event.cell);
  Fd more;
  if (pipes.size() > CellPipes::count) {
    more = std::move(pipes.back());
    pipes.pop_back();
  }
  cell.started(event.cell, std::move(pipes));
  watch_cell(cell, std::move(more));
}

void Gateway::cell_refused(Asked asked, const wire::CellEvent& event) {
  CellRunner& cell = *asked.cell;
  const Time until = asked.room_until.value_or(loop_.now() + StartQueue::room_patience);
  const bool can_wait = is_want_of_room(event.refusal) && may_wait(cell.cell(), asked.workspace) &&
                        loop_.now() < until;
  const std::uint32_t server = cell.cell().plan().server;
  if (can_wait &&
      make_room(cell, event.refusal, start_queue_.claims_before(server, event.refusal, until))) {
    start_queue_.refused(cell);
    return start_queue_.wait_for_room(cell, std::move(asked.workspace), event, until);
  }
  cell.refused(event);
  start_queue_.refused(cell);
  spares_.go_on(server);
}

// The victim's session goes on in another cell when it needs one.
bool Gateway::make_room(const CellRunner& wanted, wire::StartRefusal refusal, std::size_t claims) {
  const Time now = loop_.now();
  std::vector<CellRunner*> runners;
  std::vector<EvictionCandidate> cells;
  for (const auto& [number, runner] : cells_) {
    const ServerCell& cell = runner->cell();
    if (cell.plan().program == wire::CellProgram::survey) continue;  // it takes nobody's place
    runners.push_back(runner);
    cells.push_back({.server = cell.plan().server,
                     .is_ending = cell.state() > CellState::ready,
                     .may_give_way = cell.may_give_way(now),
                     .is_in_use = !cell.is_spare() && (now - runner->last_used() < quiet_time ||
                                                       cell.is_amid_list(now)),
                     .is_spare = cell.is_spare(),
                     .last_used = runner->last_used()});
  }
  const Eviction eviction = eviction_for(cells, {.server = wanted.cell().plan().server,
                                                 .refusal = refusal,
                                                 .is_awaited = wanted.cell().is_awaited(now),
                                                 .claims = claims});
  if (eviction.victim) runners[*eviction.victim]->give_way();
  return eviction.is_under_way || eviction.victim;
}

void Gateway::handshake_answered(const CellRunner& cell) {
  start_queue_.answered(cell);
  spares_.go_on(cell.cell().plan().server);
}

std::unique_ptr<CellRunner> Gateway::make_cell(const CellPlan& plan, const CellOwner& owner,
                                               Fd workspace, CellKeeper& keeper) {
  auto cell = is_well(plan.server) ? spares_.take(plan, owner, keeper) : nullptr;
  if (cell) charge_to_session(*cell);
  if (plan.program == wire::CellProgram::server) spares_.hold_back(plan.server);
  if (cell) return cell;
  GatewayServices& services = *this;
  return std::make_unique<CellRunner>(services, plan, owner, std::move(workspace), keeper);
}

// What it does from now on is done for its session.
void Gateway::charge_to_session(const CellRunner& cell) {
  const auto watched = watched_.find(cell.cell().id());
  if (watched != watched_.end()) watched->second.ledger.belongs_to(cell.origin());
}

bool Gateway::may_use(std::uint32_t server) const {
  const Subject subject = subject_of(config_.roles, {user_.uid, user_.gid, user_.groups});
  return Rights(config_.servers[server].rules, subject).may_use_server();
}

bool Gateway::is_well(std::uint32_t server) const {
  return start_queue_.life(server).state() == LifeState::good;
}

// Whoever waits for a place comes first.
bool Gateway::may_start_spare(std::uint32_t server) const {
  return !shutting_down_ && !start_queue_.is_anybody_waiting() && is_well(server) &&
         audit_.state() == AuditState::writable;
}

bool Gateway::has_session_of_servers() const {
  return std::ranges::any_of(
      sessions_, [](const auto& entry) { return entry.second->session().speaks_with_servers(); });
}

void Gateway::cell_news(const wire::CellEvent& event) {
  const auto found = cells_.find(event.cell);
  if (found == cells_.end()) return give_up("news from the launcher about an unknown cell");
  CellRunner& cell = *found->second;
  if (event.kind == wire::CellEventKind::running) return cell.running();
  cells_.erase(found);
  meter_.cell_ended(cell.cell().plan().server, event.facts);
  usage_.cell_ended(event.cell);
  cell.ended(event.facts);
  start_queue_.room_is_free(cell.cell().plan().server);
  if (const auto watched = watched_.find(event.cell); watched != watched_.end()) {
    watched->second.ended = true;
    forget_if_done(event.cell);
  }
}

void Gateway::remember_end(const CellRunner& cell, const Failure& failure) {
  history_[cell.cell().plan().server].last_end = LastEnd{failure, unix_milliseconds()};
  const auto news = news_.ended(cell.cell().server().name, cell.cell().id(), failure, loop_.now());
  if (news) spdlog::warn("{}", *news);
  start_queue_.ended(cell, failure);
  // They have been started before it was known, and none that answers would prove otherwise.
  if (!is_well(cell.cell().plan().server)) spares_.replace(cell.cell().plan().server);
  spares_.go_on(cell.cell().plan().server);
}

}  // namespace cellblock::gateway
