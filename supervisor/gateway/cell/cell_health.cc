#include "supervisor/gateway/cell/cell_health.h"

#include <algorithm>
#include <utility>

namespace cellblock::gateway {

namespace {

// What ends between two looks is seen by the next one: so much later it may be stopped than
// declared.
constexpr int looks_per_idle_time = 4;

Milliseconds until(Time then, Time now) {
  return std::max(std::chrono::ceil<Milliseconds>(then - now), Milliseconds{1});
}

}  // namespace

void CellHealth::begin(Time now) {
  quiet_since_ = heard_ = now;
  asked_.reset();
  is_doubted_ = false;
}

void CellHealth::server_spoke(Time now) {
  heard_ = now;
  asked_.reset();
  is_doubted_ = false;
}

void CellHealth::set_paused(bool paused, Time now) {
  if (is_paused_ && !paused) server_spoke(now);
  is_paused_ = paused;
}

CellHealth::Look CellHealth::look(bool is_busy, bool may_ask, Time now) {
  const bool spoke = std::exchange(host_spoke_, false);
  if (is_busy || spoke) quiet_since_ = now;
  if (stop_.idle && now - quiet_since_ >= *stop_.idle) return {Action::stop, std::nullopt};
  const Action action = judge_silence(may_ask, now);
  if (action == Action::give_up) return {action, std::nullopt};
  return {action, next_look(now)};
}

// Its answer may lie in the pipe, where a gateway that is late has not seen it yet: what is there
// is read before the next look.
CellHealth::Action CellHealth::judge_silence(bool may_ask, Time now) {
  if (!health_.ping || !may_ask || is_paused_) return Action::none;
  if (!asked_) {
    if (now - heard_ < *health_.ping) return Action::none;
    asked_ = now;
    return Action::ask;
  }
  if (now - *asked_ < health_.timeout) return Action::none;
  return std::exchange(is_doubted_, true) ? Action::give_up : Action::none;
}

std::optional<Milliseconds> CellHealth::next_look(Time now) const {
  std::optional<Milliseconds> next;
  if (stop_.idle) {
    next = std::min(std::max(*stop_.idle / looks_per_idle_time, Milliseconds{1}),
                    until(quiet_since_ + *stop_.idle, now));
  }
  if (!health_.ping) return next;
  Milliseconds due = *health_.ping;  // it may be asked again
  if (asked_) {
    due = until(*asked_ + health_.timeout, now);
  } else if (now < heard_ + *health_.ping) {
    due = until(heard_ + *health_.ping, now);
  }
  return next ? std::min(*next, due) : due;
}

}  // namespace cellblock::gateway
