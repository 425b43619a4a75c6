#include "supervisor/gateway/cell/start_queue.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "policy/base/server_set.h"
#include "policy/failures/end_verdict.h"
#include "supervisor/gateway/cell/cell_runner.h"
#include "supervisor/gateway/cell/eviction.h"
#include "supervisor/gateway/cell/restart_policy.h"

namespace cellblock::gateway {

namespace {

StartKey key_of(const CellRunner& cell) { return reinterpret_cast<StartKey>(&cell); }

std::uint32_t server_of(const CellRunner& cell) { return cell.cell().plan().server; }

bool is_of_a_server(const CellRunner& cell) {
  return cell.cell().plan().program == wire::CellProgram::server;
}

// As servers do that wait in vain for somebody to speak to them.
bool has_left_unused(const CellRunner& cell, const Failure& failure) {
  return cell.cell().is_spare() && failure.facts.kind == EndKind::exited &&
         failure.facts.exit_code == 0;
}

}  // namespace

StartQueue::StartQueue(EventLoop& loop, const Config& config, Hooks hooks)
    : loop_(loop),
      hooks_(std::move(hooks)),
      failures_(max_servers),
      due_(loop, [this] { look_again(); }) {
  lives_.reserve(max_servers);
  add_new(config);
}

void StartQueue::add_new(const Config& config) {
  for (std::size_t i = lives_.size(); i < config.servers.size(); ++i) {
    lives_.emplace_back(config.servers[i].restart);
  }
}

void StartQueue::start(CellRunner& cell, Fd workspace) {
  if (!is_of_a_server(cell)) return hooks_.start(cell, std::move(workspace), std::nullopt);
  Waiting waiting{.cell = &cell,
                  .workspace = std::move(workspace),
                  .give_up = loop_.now() + cell.cell().server().restart.patience};
  if (decide(waiting)) return;
  waiting_.push_back(std::move(waiting));
  look_soon();
}

void StartQueue::wait_for_room(CellRunner& cell, Fd workspace, const wire::CellEvent& refusal,
                               Time until) {
  const auto younger = std::ranges::find_if(waiting_, [until](const Waiting& other) {
    return other.room_until && *other.room_until > until;
  });
  waiting_.insert(younger, {.cell = &cell,
                            .workspace = std::move(workspace),
                            .give_up = until,
                            .room_until = until,
                            .no_room = refusal});
  look_soon();
}

void StartQueue::room_is_free(std::uint32_t server) {
  if (waiting_.empty()) return;
  free_.push_back(server);
  look_soon();
}

std::size_t StartQueue::claims_before(std::uint32_t server, wire::StartRefusal refusal,
                                      Time until) const {
  return static_cast<std::size_t>(std::ranges::count_if(waiting_, [&](const Waiting& waiting) {
    return waiting.no_room && *waiting.room_until <= until &&
           is_place_for(server_of(*waiting.cell), server, refusal);
  }));
}

std::optional<std::uint32_t> StartQueue::take_place(const Waiting& waiting) {
  const auto place = std::ranges::find_if(free_, [&](std::uint32_t freed) {
    return is_place_for(freed, server_of(*waiting.cell), waiting.no_room->refusal);
  });
  if (place == free_.end()) return std::nullopt;
  const std::uint32_t freed = *place;
  free_.erase(place);
  return freed;
}

bool StartQueue::decide_on_room(const Waiting& waiting) {
  if (!is_closed_ && loop_.now() < waiting.give_up) return false;
  loop_.defer([&cell = *waiting.cell, refusal = *waiting.no_room] { cell.refused(refusal); });
  return true;
}

bool StartQueue::decide(Waiting& waiting) {
  if (!is_closed_ && !hooks_.may_ask()) return false;
  std::optional<std::uint32_t> place;
  if (waiting.no_room) {
    place = take_place(waiting);
    if (!place) return decide_on_room(waiting);
    waiting.no_room.reset();
  }
  CellRunner& cell = *waiting.cell;
  RestartPolicy& life = lives_[server_of(cell)];
  const StartAnswer answer = life.may_start(key_of(cell), loop_.now());
  if (answer.choice == StartChoice::go) {
    hooks_.start(cell, std::move(waiting.workspace), waiting.room_until);
    return true;
  }
  if (place) free_.push_back(*place);  // for those behind it
  const bool is_too_long =
      answer.at.value_or(loop_.now()) > waiting.give_up || loop_.now() >= waiting.give_up;
  if (answer.choice == StartChoice::wait && !is_too_long && !is_closed_) return false;
  refuse(cell);
  return true;
}

// Later in the turn: whoever asked is in the middle of asking.
void StartQueue::refuse(CellRunner& cell) {
  const std::uint32_t server = cell.cell().plan().server;
  const auto& last = failures_[server];
  loop_.defer(
      [&cell, failure = start_refusal(cell.cell().server(), lives_[server], last ? &*last : nullptr,
                                      loop_.now())] { cell.withheld(failure); });
}

void StartQueue::withdraw(const CellRunner& cell) {
  const auto found = std::ranges::find(waiting_, &cell, &Waiting::cell);
  if (found == waiting_.end()) return;
  refuse(*found->cell);
  waiting_.erase(found);
}

void StartQueue::close() {
  is_closed_ = true;
  look_soon();
}

// --- what became of them -------------------------------------------------------------------------

void StartQueue::answered(const CellRunner& cell) {
  if (!is_of_a_server(cell)) return;
  lives_[cell.cell().plan().server].answered(key_of(cell));
  look_soon();
}

void StartQueue::ended(const CellRunner& cell, const Failure& failure) {
  RestartPolicy& life = lives_[cell.cell().plan().server];
  // A server that leaves by itself while it is used is started again as one that crashed is.
  if (is_on_purpose(failure.verdict) || has_left_unused(cell, failure)) {
    life.gone(key_of(cell));
    return look_soon();
  }
  failures_[cell.cell().plan().server] = failure;
  const LifeState before = life.state();
  life.failed(key_of(cell), hooks_.chance(), loop_.now());
  look_soon();
  if (life.state() == before || life.state() == LifeState::pausing) return;
  spdlog::warn("{} failed {} times in a row and is {}: {}", server_tag(cell.cell().server().name),
               life.run(), name_of(life.state()), failure.message);
}

void StartQueue::refused(const CellRunner& cell) {
  if (!is_of_a_server(cell)) return;
  lives_[cell.cell().plan().server].gone(key_of(cell));
  look_soon();
}

void StartQueue::reset(std::uint32_t server) {
  lives_[server].reset();
  failures_[server].reset();
  look_soon();
}

// --- those that wait -----------------------------------------------------------------------------

// Later in the turn, once for all: what one start brings about may end another.
void StartQueue::look_soon() {
  if (waiting_.empty() || std::exchange(is_scheduled_, true)) return;
  loop_.defer([this] {
    is_scheduled_ = false;
    look_again();
  });
}

// A cell that gives way may end sessions, and what they wait for here.
void StartQueue::make_room() {
  std::vector<const CellRunner*> wanting;
  for (const Waiting& waiting : waiting_) {
    if (waiting.no_room) wanting.push_back(waiting.cell);
  }
  for (const CellRunner* cell : wanting) {
    const auto found = std::ranges::find(waiting_, cell, &Waiting::cell);
    if (found == waiting_.end()) continue;
    const wire::StartRefusal refusal = found->no_room->refusal;
    std::size_t claims = 0;
    for (auto before = waiting_.begin(); before != found; ++before) {
      if (before->no_room && is_place_for(server_of(*before->cell), server_of(*cell), refusal)) {
        ++claims;
      }
    }
    hooks_.make_room(*found->cell, refusal, claims);
  }
}

void StartQueue::look_again() {
  std::erase_if(waiting_, [this](Waiting& waiting) { return decide(waiting); });
  if (hooks_.may_ask()) free_.clear();  // else they are for those who could not ask yet
  make_room();
  if (waiting_.empty()) return due_.cancel();
  Time next = Time::max();
  for (const Waiting& waiting : waiting_) {
    const auto may =
        waiting.no_room ? std::nullopt : lives_[waiting.cell->cell().plan().server].next_start();
    next = std::min({next, waiting.give_up, may.value_or(waiting.give_up)});
    if (waiting.no_room) next = std::min(next, loop_.now() + room_look);
  }
  due_.set(std::max(std::chrono::ceil<Milliseconds>(next - loop_.now()), Milliseconds{1}));
}

}  // namespace cellblock::gateway
