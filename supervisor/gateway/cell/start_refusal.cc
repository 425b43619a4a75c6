#include "supervisor/gateway/cell/start_refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "policy/base/units.h"
#include "policy/failures/end_verdict.h"

namespace cellblock::gateway {

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
