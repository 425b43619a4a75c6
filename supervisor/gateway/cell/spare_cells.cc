#include "supervisor/gateway/cell/spare_cells.h"

#include <algorithm>
#include <utility>

#include "policy/base/server_set.h"

namespace cellblock::gateway {

namespace {

bool is_spare_of(const CellRunner& cell, std::uint32_t server) {
  return cell.cell().plan().server == server && !cell.cell().is_over();
}

// One after the other: they would only slow each other down, and whoever waits for the first one.
bool is_starting(const CellRunner& cell) { return cell.cell().state() < CellState::handshaking; }

}  // namespace

SpareCells::SpareCells(GatewayServices& services, Hooks hooks)
    : services_(services),
      hooks_(std::move(hooks)),
      wanted_(max_servers),
      held_back_(services.loop(), [this] { look_soon(); }),
      lonely_(services.loop(), [this] { look_soon(); }) {}

// --- what sessions bring about -------------------------------------------------------------------

void SpareCells::expect(std::uint32_t server) {
  if (services_.config().servers[server].start.warm == 0) return;
  wanted_[server].is_expected = true;
  look_soon();
}

// The one that is furthest: a session that waits for the start of a cell is better served by one
// that has begun.
std::unique_ptr<CellRunner> SpareCells::take(const CellPlan& plan, CellOwner owner,
                                             CellKeeper& keeper) {
  if (plan.program != wire::CellProgram::server || plan.has_workspace) return nullptr;
  const auto fits = [&plan](const Kept& kept) {
    return is_spare_of(*kept.runner, plan.server) && kept.runner->cell().takes_users() &&
           !kept.runner->is_ending();
  };
  auto best = std::ranges::find_if(cells_, fits);
  if (best == cells_.end()) return nullptr;
  for (auto other = std::next(best); other != cells_.end(); ++other) {
    if (fits(*other) && other->runner->cell().state() > best->runner->cell().state()) best = other;
  }
  std::unique_ptr<CellRunner> taken = std::move(best->runner);
  cells_.erase(best);
  taken->give_to(plan, owner, keeper);
  return taken;
}

void SpareCells::hold_back(std::uint32_t server) {
  if (services_.config().servers[server].start.warm == 0) return;
  Wanted& wanted = wanted_[server];
  wanted.is_expected = true;
  if (!wanted.held_until) wanted.held_until = services_.loop().now() + head_start;
  look_soon();
}

void SpareCells::go_on(std::uint32_t server) {
  std::optional<Time>& until = wanted_[server].held_until;
  if (!until) return;
  until = std::min(*until, services_.loop().now() + first_questions);
  look_soon();
}

// --- what ends them ------------------------------------------------------------------------------

void SpareCells::stop(std::uint32_t server) {
  wanted_[server].is_expected = false;
  end_all_of(server);
}

void SpareCells::replace(std::uint32_t server) { end_all_of(server); }

void SpareCells::stop_all() {
  is_closed_ = true;
  for (Kept& kept : cells_) kept.runner->cell().stop();
  if (!cells_.empty()) look_soon();
}

void SpareCells::end_all_of(std::uint32_t server) {
  for (Kept& kept : cells_) {
    if (!is_spare_of(*kept.runner, server)) continue;
    kept.is_told = true;
    kept.runner->cell().stop();
  }
  look_soon();
}

// --- at the end of a turn ------------------------------------------------------------------------

// Once for all, and not while whoever asked is in the middle of it.
void SpareCells::look_soon() {
  if (std::exchange(is_scheduled_, true)) return;
  services_.loop().defer([this] {
    is_scheduled_ = false;
    look();
  });
}

void SpareCells::look() {
  for (const Kept& kept : cells_) kept.runner->settle();
  const bool was_empty = cells_.empty();
  remove_ended();
  end_if_lonely();
  wait_for_held();
  for (std::uint32_t i = 0; i < services_.config().servers.size(); ++i) {
    trim(i);
    if (!is_any_starting() && is_short_of(i)) start(i);
  }
  if (!was_empty && cells_.empty()) hooks_.none_left();
}

void SpareCells::end_if_lonely() {
  const Time now = services_.loop().now();
  if (cells_.empty() || is_closed_ || hooks_.is_anybody_there()) {
    lonely_since_.reset();
    return lonely_.cancel();
  }
  if (!lonely_since_) lonely_since_ = now;
  const Time end = *lonely_since_ + lonely_time;
  if (now < end) return lonely_.set(std::chrono::ceil<Milliseconds>(end - now));
  for (const Kept& kept : cells_) {
    if (kept.runner->cell().takes_users()) stop(kept.runner->cell().plan().server);
  }
}

bool SpareCells::is_any_starting() const {
  return std::ranges::any_of(cells_, [](const Kept& kept) {
    return kept.runner->cell().takes_users() && is_starting(*kept.runner);
  });
}

void SpareCells::wait_for_held() {
  const Time now = services_.loop().now();
  std::optional<Time> next;
  for (Wanted& wanted : wanted_) {
    if (wanted.held_until && *wanted.held_until <= now) wanted.held_until.reset();
    if (wanted.held_until) next = std::min(next.value_or(Time::max()), *wanted.held_until);
  }
  if (next) held_back_.set(std::chrono::ceil<Milliseconds>(*next - now));
}

// One that ended by itself, or was refused, would do so again: no other one before a session comes.
void SpareCells::remove_ended() {
  for (Kept& kept : cells_) {
    if (!kept.runner->is_over()) continue;
    if (!kept.is_told) wanted_[kept.runner->cell().plan().server].is_expected = false;
    services_.loop().defer([done = std::shared_ptr<CellRunner>(std::move(kept.runner))] {});
  }
  std::erase_if(cells_, [](const Kept& kept) { return kept.runner == nullptr; });
}

bool SpareCells::may_keep_any(std::uint32_t index) const {
  const Config& config = services_.config();
  const Server& server = config.servers[index];
  const bool is_on = !is_closed_ && config.enabled && server.is_usable() && !server.removed;
  return is_on && hooks_.may_use(index);
}

// Fewer may be declared than before, or the server may not be used any more.
void SpareCells::trim(std::uint32_t index) {
  if (std::ranges::none_of(
          cells_, [index](const Kept& kept) { return is_spare_of(*kept.runner, index); })) {
    return;
  }
  std::size_t room = may_keep_any(index) ? services_.config().servers[index].start.warm : 0;
  for (Kept& kept : cells_) {
    if (!is_spare_of(*kept.runner, index) || !kept.runner->cell().takes_users()) continue;
    if (room > 0) {
      --room;
      continue;
    }
    kept.is_told = true;
    kept.runner->cell().stop();
  }
}

bool SpareCells::is_short_of(std::uint32_t index) const {
  const Wanted& wanted = wanted_[index];
  if (!wanted.is_expected || wanted.held_until) return false;
  if (!may_keep_any(index) || !hooks_.may_start(index)) return false;
  std::size_t waiting = 0;
  for (const Kept& kept : cells_) {
    if (is_spare_of(*kept.runner, index) && kept.runner->cell().takes_users()) ++waiting;
  }
  return waiting < services_.config().servers[index].start.warm;
}

void SpareCells::start(std::uint32_t server) {
  CellKeeper& keeper = *this;
  const CellPlan plan{.server = server, .purpose = "spare"};
  cells_.push_back(
      {.runner = std::make_unique<CellRunner>(services_, plan, CellOwner{}, Fd(), keeper)});
  cells_.back().runner->cell().start_spare(services_.loop().now());
}

// --- what status shows ---------------------------------------------------------------------------

std::size_t SpareCells::count(std::uint32_t server) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      cells_, [server](const Kept& kept) { return is_spare_of(*kept.runner, server); }));
}

std::vector<CellRow> SpareCells::rows(std::uint32_t server, Time now) const {
  std::vector<CellRow> rows;
  for (const Kept& kept : cells_) {
    if (!is_spare_of(*kept.runner, server) || kept.runner->cell().id() == 0) continue;
    rows.push_back(kept.runner->row(now));
  }
  return rows;
}

}  // namespace cellblock::gateway
