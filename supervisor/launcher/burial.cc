#include "supervisor/launcher/burial.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/kernel/burial_child.h"

namespace cellblock::launcher {
namespace {

constexpr std::size_t most_children = 8;
constexpr std::size_t most_waiting = 256;

void wait_for(int pidfd) {
  siginfo_t info{};
  while (waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED) < 0 && errno == EINTR) {
  }
}

}  // namespace

void Burial::add(Fd dead) {
  std::vector<Fd> one;
  one.push_back(std::move(dead));
  add(std::move(one));
}

void Burial::add(std::vector<Fd> dead) {
  for (Fd& each : dead) {
    if (each.valid()) dead_.push_back(std::move(each));
  }
  if (!dead_.empty()) bury();
}

bool Burial::has_room() const { return dead_.size() < most_waiting; }

// What cannot be buried now (no process, no descriptor) waits for the next time.
void Burial::bury() {
  if (children_.size() >= most_children) return;
  auto line = make_seqpacket_pair();
  if (!line) return;
  const auto child = bury_in_child(dead_, *line);
  if (!child) return;
  Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, *child, 0)));
  const int number = pidfd.get();
  const bool watched =
      pidfd.valid() && loop_.watch_input(number, [this, number] { reap(number); }).has_value();
  if (watched) children_.emplace(number, std::move(pidfd));
}

void Burial::reap(int pidfd) {
  loop_.forget(pidfd);
  wait_for(pidfd);
  children_.erase(pidfd);
  if (!dead_.empty()) bury();
}

}  // namespace cellblock::launcher
