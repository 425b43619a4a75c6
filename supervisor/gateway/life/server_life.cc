#include "supervisor/gateway/life/server_life.h"

#include <algorithm>
#include <array>

namespace cellblock::gateway {

namespace {

constexpr std::uint32_t most_doublings = 20;  // past each max_pause that can be declared

}  // namespace

std::string_view name_of(LifeState state) {
  static constexpr std::array<std::string_view, 5> names{"good", "pausing", "resting", "trying",
                                                         "quarantined"};
  return names.at(static_cast<std::size_t>(state));
}

StartAnswer ServerLife::may_start(StartKey start, Time now) {
  switch (state_) {
    case LifeState::good:
      return {};
    case LifeState::quarantined:
      return {StartChoice::refuse, std::nullopt};
    case LifeState::trying:
      if (now < until_) return {StartChoice::wait, std::nullopt};
      break;
    case LifeState::pausing:
    case LifeState::resting:
      if (now < until_) return {StartChoice::wait, until_};
      before_trial_ = state_;
      break;
  }
  state_ = LifeState::trying;
  trial_ = start;
  until_ = now + rules_->max_pause;
  return {};
}

// Any cell's answer shows that it can be started.
void ServerLife::answered(StartKey) {
  if (state_ != LifeState::trying) return;
  state_ = LifeState::good;
  run_ = 0;
  failed_trials_ = 0;
}

void ServerLife::failed(StartKey start, std::uint64_t chance, Time now) {
  const bool was_trial = state_ == LifeState::trying && start == trial_;
  if (state_ != LifeState::good && !was_trial) return;
  ++run_;
  count(now);
  if (rules_->when == RestartWhen::never) {
    state_ = LifeState::quarantined;
  } else if (was_trial && before_trial_ == LifeState::resting) {
    ++failed_trials_;
    enter_rest(now);
  } else if (failures_.size() >= rules_->failures) {
    enter_rest(now);
  } else {
    state_ = LifeState::pausing;
    until_ = now + pause(chance);
  }
}

void ServerLife::enter_rest(Time now) {
  state_ = failed_trials_ >= rules_->trials ? LifeState::quarantined : LifeState::resting;
  until_ = now + rules_->rest;
}

// The time that it waited for is over already: the next start is the trial.
void ServerLife::gone(StartKey start) {
  if (state_ != LifeState::trying || start != trial_) return;
  state_ = before_trial_;
  until_ -= rules_->max_pause;
}

void ServerLife::reset() { *this = ServerLife(*rules_); }

std::optional<Time> ServerLife::next_start() const {
  if (state_ == LifeState::good || state_ == LifeState::quarantined) return std::nullopt;
  return until_;
}

void ServerLife::count(Time now) {
  std::erase_if(failures_, [&](Time at) { return now - at >= rules_->window; });
  failures_.push_back(now);
  if (failures_.size() > rules_->failures) failures_.pop_front();
}

// Between a half and the whole of it.
Milliseconds ServerLife::pause(std::uint64_t chance) const {
  const std::uint32_t doublings = std::min(run_ - 1, most_doublings);
  const Milliseconds whole =
      std::min(rules_->pause * (std::int64_t{1} << doublings), Milliseconds{rules_->max_pause});
  const auto half = static_cast<std::uint64_t>(whole.count()) / 2;
  return whole - Milliseconds(static_cast<std::int64_t>(chance % (half + 1)));
}

}  // namespace cellblock::gateway
