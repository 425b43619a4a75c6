#include "supervisor/gateway/cell/shared_cells.h"

#include <algorithm>
#include <utility>

namespace cellblock::gateway {

namespace {

bool is_of(const CellRunner& cell, std::uint32_t server) {
  return cell.cell().plan().server == server && !cell.cell().is_over();
}

}  // namespace

SharedCells::SharedCells(GatewayServices& services, Hooks hooks)
    : services_(services), hooks_(std::move(hooks)) {}

ServerCell& SharedCells::cell_of(std::uint32_t server) {
  for (const Kept& kept : cells_) {
    if (is_of(*kept.runner, server) && kept.runner->cell().takes_users()) {
      return kept.runner->cell();
    }
  }
  const CellPlan plan{.server = server, .purpose = "shared"};
  CellKeeper& keeper = *this;
  auto runner = std::make_unique<CellRunner>(services_, plan, CellOwner{}, Fd(), keeper);
  ServerCell& cell = runner->cell();
  auto idle = std::make_unique<Timer>(services_.loop(), [this, &cell] {
    if (!cell.has_users()) cell.stop();
    cell_turn_done();
  });
  cells_.push_back({.runner = std::move(runner), .idle = std::move(idle)});
  return cell;
}

std::size_t SharedCells::queued(std::uint32_t server) const {
  std::size_t most = 0;
  for (const Kept& kept : cells_) {
    if (is_of(*kept.runner, server)) most = std::max(most, kept.runner->queued());
  }
  return most;
}

std::size_t SharedCells::count(std::uint32_t server) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      cells_, [server](const Kept& kept) { return is_of(*kept.runner, server); }));
}

std::set<std::uint64_t> SharedCells::sessions(std::uint32_t server) const {
  std::set<std::uint64_t> all;
  for (const Kept& kept : cells_) {
    if (is_of(*kept.runner, server)) all.merge(kept.runner->cell().sessions());
  }
  return all;
}

void SharedCells::stop(std::uint32_t server) {
  for (const Kept& kept : cells_) {
    if (is_of(*kept.runner, server)) kept.runner->cell().stop();
  }
  cell_turn_done();
}

void SharedCells::replace_cells(std::uint32_t server) {
  for (const Kept& kept : cells_) {
    if (is_of(*kept.runner, server)) kept.runner->cell().retire();
  }
  cell_turn_done();
}

void SharedCells::stop_all() {
  for (const Kept& kept : cells_) kept.runner->cell().stop();
  if (!cells_.empty()) cell_turn_done();
}

std::vector<CellRow> SharedCells::rows(std::uint32_t server, Time now) const {
  std::vector<CellRow> rows;
  for (const Kept& kept : cells_) {
    if (!is_of(*kept.runner, server) || kept.runner->cell().id() == 0) continue;
    rows.push_back(kept.runner->row(now));
    rows.back().sessions = kept.runner->cell().sessions();
  }
  return rows;
}

// --- the end of each turn ------------------------------------------------------------------------

// Later in the turn, once for all: a session that speaks is in the middle of it.
void SharedCells::cell_turn_done() {
  if (std::exchange(is_scheduled_, true)) return;
  services_.loop().defer([this] { settle(); });
}

// By index: what a cell's end brings about may add another one.
void SharedCells::settle() {
  is_scheduled_ = false;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    CellRunner& runner = *cells_[i].runner;
    runner.settle();
    watch(cells_[i]);
  }
  const std::size_t gone = remove_ended();
  hooks_.settle_sessions();
  if (gone != 0 && cells_.empty()) hooks_.none_left();
}

// Not at once: what it stood on goes at the end of this turn too, and points at it.
std::size_t SharedCells::remove_ended() {
  for (Kept& kept : cells_) {
    if (!kept.runner->is_over()) continue;
    services_.loop().defer([done = std::shared_ptr<CellRunner>(std::move(kept.runner))] {});
  }
  return std::erase_if(cells_, [](const Kept& kept) { return kept.runner == nullptr; });
}

void SharedCells::watch(Kept& kept) {
  ServerCell& cell = kept.runner->cell();
  if (cell.has_users()) {
    if (std::exchange(kept.is_idle, false)) kept.idle->cancel();
  } else if (!cell.takes_users()) {
    cell.stop();
  } else if (!std::exchange(kept.is_idle, true)) {
    kept.idle->set(kept_idle);
  }
}

}  // namespace cellblock::gateway
