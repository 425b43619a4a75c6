#include "supervisor/launcher/run/channel_closer.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "supervisor/os/fork_without_handlers.h"
#include "supervisor/os/sys.h"

namespace cellblock::launcher {
namespace {

constexpr std::ptrdiff_t max_closers_per_user = 2;

void wait_for(int pidfd) {
  siginfo_t info{};
  while (waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED) < 0 && errno == EINTR) {
  }
}

}  // namespace

void ChannelCloser::add(std::uint32_t user, Fd channel) {
  if (!channel.valid()) return;
  waiting_.push_back({user, std::move(channel)});
  bury_waiting();
}

bool ChannelCloser::has_room(std::uint32_t user) const {
  const auto waiting = std::ranges::count(waiting_, user, &Dead::user);
  const auto held = std::ranges::count_if(
      children_, [user](const auto& entry) { return entry.second.user == user; });
  return waiting + held < max_closers_per_user;
}

// What cannot be buried now (no process, no descriptor) waits for the next time.
void ChannelCloser::bury_waiting() {
  while (!waiting_.empty() && close_later(waiting_.back())) waiting_.pop_back();
}

bool ChannelCloser::close_later(Dead& dead) {
  auto line = make_seqpacket_pair();
  if (!line) return false;
  std::vector<Fd> one;
  one.push_back(std::move(dead.fd));
  const auto child = close_in_child(one, *line);
  if (!child) {
    dead.fd = std::move(one[0]);
    return false;
  }
  Fd pidfd = open_pidfd(*child);
  const int number = pidfd.get();
  const bool watched =
      pidfd.valid() && loop_.watch_input(number, [this, number] { reap(number); }).has_value();
  if (watched) children_.emplace(number, Dead{dead.user, std::move(pidfd)});
  return true;
}

// It has ended, so that this does not wait.
void ChannelCloser::reap(int pidfd) {
  loop_.forget(pidfd);
  wait_for(pidfd);
  children_.erase(pidfd);
  bury_waiting();
}

}  // namespace cellblock::launcher
