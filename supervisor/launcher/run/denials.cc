#include "supervisor/launcher/run/denials.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "policy/syscalls/syscall_policy.h"
#include "policy/syscalls/syscall_table.h"
#include "supervisor/os/timer.h"

namespace cellblock::launcher {
namespace {

using std::chrono::milliseconds;

// What a throttled cell waits for its next answers, and a record for the next that may be told.
constexpr milliseconds answers_wait{10};
constexpr milliseconds records_wait{100};

milliseconds monotonic_now() {
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

enum class Pending : std::uint8_t { call, nothing, end };

// Receiving without a call there would wait for ever. Nothing: who made it has been killed since.
Pending pending(int descriptor) {
  pollfd words{descriptor, POLLIN, 0};
  if (poll(&words, 1, 0) < 1) return Pending::nothing;
  return (words.revents & POLLIN) != 0 ? Pending::call : Pending::end;
}

bool is_foreign(const seccomp_data& call) {
  return call.arch != native_architecture || (call.nr & x32_bit) != 0;
}

ArgumentWords low_words(const seccomp_data& call) {
  ArgumentWords words;
  std::ranges::transform(call.args, words.begin(),
                         [](std::uint64_t word) { return static_cast<std::uint32_t>(word); });
  return words;
}

}  // namespace

Denials::~Denials() {
  if (timer_.valid()) loop_.forget(timer_.get());
  for (const auto& [cell, watched] : cells_) stop_watching(*watched, Watched::State::over);
}

SysResult<void> Denials::watch(std::uint64_t cell, Fd notifications,
                               std::shared_ptr<const FilterProgram> filter, Listener listener) {
  if (cells_.contains(cell) || !filter) return std::unexpected(SysError{"watch", EINVAL});
  CELLBLOCK_CHECK(make_timer());
  auto watched = std::make_unique<Watched>();
  watched->notifications = std::move(notifications);
  watched->filter = std::move(filter);
  watched->listener = std::move(listener);
  CELLBLOCK_CHECK(
      loop_.watch_input(watched->notifications.get(), [this, cell] { readable(cell); }));
  cells_[cell] = std::move(watched);
  return {};
}

void Denials::forget(std::uint64_t cell) {
  const auto found = cells_.find(cell);
  if (found == cells_.end()) return;
  const std::unique_ptr<Watched> watched = std::move(found->second);
  cells_.erase(found);
  stop_watching(*watched, Watched::State::over);
  while (const auto record = watched->counts.next()) watched->listener.denied(*record);
}

void Denials::stop_watching(Watched& watched, Watched::State state) {
  if (watched.state == Watched::State::watching) loop_.forget(watched.notifications.get());
  watched.state = state;
}

void Denials::readable(std::uint64_t cell) {
  const auto found = cells_.find(cell);
  if (found == cells_.end()) return;
  Watched& watched = *found->second;
  const Pending there = pending(watched.notifications.get());
  if (there == Pending::nothing) return;
  // The last filtered process has ended.
  if (there == Pending::end) return stop_watching(watched, Watched::State::over);
  const milliseconds time = monotonic_now();
  if (RateBudget::take_both(watched.answers, all_answers_, time)) return answer(watched);
  stop_watching(watched, Watched::State::throttled);
  wake_in(answers_wait);
}

void Denials::answer(Watched& watched) {
  seccomp_notif asked{};
  // ENOENT: that process was killed meanwhile. Others may still come.
  if (ioctl(watched.notifications.get(), SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0) return;
  if (is_foreign(asked.data)) {
    stop_watching(watched, Watched::State::over);
    const auto foreign = watched.listener.foreign;  // may end in forget()
    return foreign(asked.data.arch, asked.data.nr);
  }
  const ArgumentWords words = low_words(asked.data);
  const int error = watched.filter->refusals.error_for(asked.data.nr, words);
  seccomp_notif_resp answered{.id = asked.id, .val = 0, .error = -error, .flags = 0};
  // Fails only when the caller is gone.
  static_cast<void>(ioctl(watched.notifications.get(), SECCOMP_IOCTL_NOTIF_SEND, &answered));
  watched.counts.add({.syscall_number = asked.data.nr,
                      .error = error,
                      .words = reported_words(asked.data.nr, words),
                      .count = 1});
  tell(watched);
}

void Denials::tell(Watched& watched) {
  while (const auto record = watched.counts.due(monotonic_now())) {
    if (watched.listener.denied(*record)) continue;
    watched.counts.add(*record);
    break;
  }
  if (!watched.counts.empty()) wake_in(records_wait);
}

void Denials::wake_in(milliseconds wait) {
  const bool soon_enough = waking_in_.count() != 0 && waking_in_ <= wait;
  if (soon_enough) return;
  // Cannot fail with a valid timer.
  static_cast<void>(set_timer(timer_.get(), wait));
  waking_in_ = wait;
}

void Denials::tick() {
  std::uint64_t times = 0;
  if (read(timer_.get(), &times, sizeof times) < 0) return;
  waking_in_ = milliseconds{0};
  for (const auto& [cell, watched] : cells_) {
    if (watched->state == Watched::State::throttled) watch_again(cell, *watched);
    tell(*watched);
  }
}

void Denials::watch_again(std::uint64_t cell, Watched& watched) {
  const auto again =
      loop_.watch_input(watched.notifications.get(), [this, cell] { readable(cell); });
  if (again) {
    watched.state = Watched::State::watching;
  } else {
    wake_in(answers_wait);
  }
}

SysResult<void> Denials::make_timer() {
  if (timer_.valid()) return {};
  Fd timer = CELLBLOCK_TRY(cellblock::make_timer());
  CELLBLOCK_CHECK(loop_.watch_input(timer.get(), [this] { tick(); }));
  timer_ = std::move(timer);
  return {};
}

}  // namespace cellblock::launcher
