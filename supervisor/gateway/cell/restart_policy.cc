#include "supervisor/gateway/cell/restart_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "policy/base/units.h"
#include "policy/failures/end_verdict.h"

namespace cellblock::gateway {
namespace {

constexpr std::uint32_t most_doublings = 20;  // past each max_pause that can be declared

}  // namespace

std::string_view name_of(LifeState state) {
  static constexpr std::array<std::string_view, 5> names{"good", "pausing", "resting", "trying",
                                                         "quarantined"};
  return names.at(static_cast<std::size_t>(state));
}

StartAnswer RestartPolicy::may_start(StartKey start, Time now) {
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
  trials_.push_back(start);
  until_ = now + alone;
  return {};
}

// While one is tried any cell's answer shows that the server can be started; later, that of one
// which was tried and took longer than another that failed.
void RestartPolicy::answered(StartKey start) {
  const bool was_trial = forget_trial(start);
  const bool is_down = state_ == LifeState::pausing || state_ == LifeState::resting;
  if (state_ != LifeState::trying && !(was_trial && is_down)) return;
  trials_.clear();
  state_ = LifeState::good;
  run_ = 0;
  failed_trials_ = 0;
}

void RestartPolicy::failed(StartKey start, std::uint64_t chance, Time now) {
  const bool was_trial = forget_trial(start) && state_ == LifeState::trying;
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

void RestartPolicy::enter_rest(Time now) {
  state_ = failed_trials_ >= rules_->trials ? LifeState::quarantined : LifeState::resting;
  until_ = now + rules_->rest;
}

// The time that it waited for is over already: the next start is a trial.
void RestartPolicy::gone(StartKey start) {
  if (!forget_trial(start) || state_ != LifeState::trying || !trials_.empty()) return;
  state_ = before_trial_;
  until_ -= alone;
}

void RestartPolicy::reset() { *this = RestartPolicy(*rules_); }

std::optional<Time> RestartPolicy::next_start() const {
  if (state_ == LifeState::good || state_ == LifeState::quarantined) return std::nullopt;
  return until_;
}

void RestartPolicy::count(Time now) {
  std::erase_if(failures_, [&](Time at) { return now - at >= rules_->window; });
  failures_.push_back(now);
  if (failures_.size() > rules_->failures) failures_.pop_front();
}

// Between a half and the whole of it.
Milliseconds RestartPolicy::pause(std::uint64_t chance) const {
  const std::uint32_t doublings = std::min(run_ - 1, most_doublings);
  const Milliseconds whole =
      std::min(rules_->pause * (std::int64_t{1} << doublings), Milliseconds{rules_->max_pause});
  const auto half = static_cast<std::uint64_t>(whole.count()) / 2;
  return whole - Milliseconds(static_cast<std::int64_t>(chance % (half + 1)));
}

namespace {

// Rounded up, to what somebody who waits cares for.
std::string wait_text(Milliseconds time) {
  using namespace std::chrono;
  if (time <= seconds{1}) return duration_text(time);
  if (time <= minutes{2}) return duration_text(ceil<seconds>(time));
  return duration_text(ceil<minutes>(time));
}

std::string times_text(std::uint32_t times) {
  return times == 1 ? "once" : fmt::format("{} times in a row", times);
}

std::string sentence(const Server& server, const RestartPolicy& life, Milliseconds wait) {
  if (life.state() == LifeState::quarantined) {
    return fmt::format(
        "server \"{0}\" failed {1} and is not started any more until `cellblock restart {0}`",
        server.name, times_text(life.run()));
  }
  if (life.state() == LifeState::trying) {
    return fmt::format("server \"{}\" failed {} and is being tried with one cell; try again in {}",
                       server.name, times_text(life.run()), wait_text(wait));
  }
  return fmt::format("server \"{}\" failed {}; it may start again in {}", server.name,
                     times_text(life.run()), wait_text(wait));
}

}  // namespace

Failure start_refusal(const Server& server, const RestartPolicy& life, const Failure* last,
                      Time now) {
  Failure failure;
  if (last != nullptr) failure = *last;
  failure.code = FailureCode::server_failed;
  failure.verdict = name_of(Verdict::never_ran);  // so that nobody tries again at once
  failure.server = server.name;
  Milliseconds wait{0};
  if (const auto next = life.next_start()) {
    wait = std::max(std::chrono::ceil<Milliseconds>(*next - now), Milliseconds{0});
  }
  if (life.state() != LifeState::quarantined) failure.retry_after = wait;
  failure.message = sentence(server, life, wait);
  if (last != nullptr) failure.message += "; the last time: " + last->message;
  return failure;
}

}  // namespace cellblock::gateway
