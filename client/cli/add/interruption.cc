#include "client/cli/add/interruption.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>

namespace cellblock::cli {
namespace {

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

void mark(int descriptor) { static_cast<void>(::eventfd_write(descriptor, 1)); }

bool is_told(int signals, int over) {
  std::array<pollfd, 2> sources{pollfd{signals, POLLIN, 0}, pollfd{over, POLLIN, 0}};
  while (::poll(sources.data(), sources.size(), -1) < 0) continue;
  return (sources[1].revents & POLLIN) == 0;
}

}  // namespace

Interruption::Interruption() {
  const auto set = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = client::OwnedFd(::signalfd(-1, &set, SFD_CLOEXEC));
  told_ = client::OwnedFd(::eventfd(0, EFD_CLOEXEC));
  over_ = client::OwnedFd(::eventfd(0, EFD_CLOEXEC));
  waits_ = std::thread([this] {
    if (!is_told(signals_.get(), over_.get())) return;
    stop_.request_stop();
    mark(told_.get());
  });
}

// Signals that came stay blocked: the command is at its end, and says itself how it ended.
Interruption::~Interruption() {
  mark(over_.get());
  waits_.join();
}

}  // namespace cellblock::cli
