#include "supervisor/daemon/burial.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigemptyset is POSIX
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "supervisor/kernel/burial_child.h"

namespace cellblock::daemon {
namespace {

constexpr std::size_t batch = 16;
constexpr std::size_t most_children = 8;
constexpr std::chrono::milliseconds longest_wait{50};

// SIGCHLD is blocked in the supervisor; this is how the event loop hears of it.
SysResult<Fd> watch_child_ends() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  Fd descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor.valid()) return sys_fail("signalfd");
  return descriptor;
}

bool reaped(pid_t child) {
  const pid_t result = ::waitpid(child, nullptr, WNOHANG);
  return result > 0 || (result < 0 && errno == ECHILD);
}

}  // namespace

Result<std::unique_ptr<Burial>> Burial::make(boost::asio::io_context& loop,
                                             std::function<void()> on_room) {
  Fd child_ends = CELLBLOCK_TRY(watch_child_ends());
  Pair line = CELLBLOCK_TRY(make_seqpacket_pair());
  return std::unique_ptr<Burial>(
      new Burial(loop, std::move(child_ends), std::move(line), std::move(on_room)));
}

Burial::Burial(boost::asio::io_context& loop, Fd child_ends, Pair line,
               std::function<void()> on_room)
    : on_room_(std::move(on_room)),
      line_(std::move(line)),
      timer_(loop),
      child_ends_(loop, std::move(child_ends), [this] { reap(); }) {}

Burial::~Burial() {
  // However many children there are: this is the last one.
  if (!dead_.empty()) static_cast<void>(bury());
  for (Fd& connection : dead_) connection.release();
}

void Burial::add(Fd connection) {
  dead_.push_back(std::move(connection));
  if (dead_.size() >= batch) bury_if_possible();
  bury_later();
}

bool Burial::has_room() const { return dead_.size() < batch; }

void Burial::bury_if_possible() {
  if (dead_.empty() || children_.size() >= most_children) return;
  if (const auto buried = bury(); !buried) {
    if (!std::exchange(failure_said_, true)) {
      spdlog::error("cannot close connections yet: {}", buried.error().text);
    }
    return;
  }
  failure_said_ = false;
}

// For those who could not know: `add` is asked for the room it leaves by its caller.
void Burial::bury_and_tell() {
  const bool was_full = !has_room();
  bury_if_possible();
  if (was_full && has_room()) on_room_();
}

Result<void> Burial::bury() {
  if (!line_.first.valid()) line_ = CELLBLOCK_TRY(make_seqpacket_pair());
  children_.push_back(CELLBLOCK_TRY(bury_in_child(dead_, line_)));
  // Now there are free descriptors. If there are none after all, the next burial tries again.
  if (auto line = make_seqpacket_pair()) line_ = std::move(*line);
  return {};
}

void Burial::bury_later() {
  if (dead_.empty() || std::exchange(timer_runs_, true)) return;
  timer_.expires_after(longest_wait);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    timer_runs_ = false;
    bury_and_tell();
    bury_later();
  });
}

// Only its own: the launcher's end is somebody else's to read.
void Burial::reap() {
  signalfd_siginfo which;
  while (::read(child_ends_.get(), &which, sizeof which) > 0) {
  }
  std::erase_if(children_, reaped);
  if (!has_room()) bury_and_tell();
}

}  // namespace cellblock::daemon
