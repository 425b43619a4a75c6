#include "supervisor/daemon/sockets/connection_closer.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigemptyset is POSIX
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "supervisor/os/fork_without_handlers.h"

namespace cellblock::daemon {
namespace {

constexpr std::chrono::milliseconds longest_wait{50};

CloseQueue::Time now() { return std::chrono::steady_clock::now(); }

// SIGCHLD is blocked in the supervisor; the event loop reads it from a signalfd.
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

Result<std::unique_ptr<ConnectionCloser>> ConnectionCloser::make(boost::asio::io_context& loop,
                                                                 Events events) {
  Fd child_ends = CELLBLOCK_TRY(watch_child_ends());
  Pair line = CELLBLOCK_TRY(make_seqpacket_pair());
  return std::unique_ptr<ConnectionCloser>(
      new ConnectionCloser(loop, std::move(child_ends), std::move(line), std::move(events)));
}

ConnectionCloser::ConnectionCloser(boost::asio::io_context& loop, Fd child_ends, Pair line,
                                   Events events)
    : events_(std::move(events)),
      line_(std::move(line)),
      timer_(loop),
      child_ends_(loop, std::move(child_ends), [this] { reap(); }) {}

ConnectionCloser::~ConnectionCloser() { finish(); }

std::vector<pid_t> ConnectionCloser::finish() {
  CloseQueue::Batch rest{{}, queue_.take_all()};
  if (!rest.connections.empty()) static_cast<void>(close_later(rest));
  for (Fd& connection : rest.connections) connection.release();
  return queue_.children();
}

void ConnectionCloser::add(Fd connection, const ConnectionOwner& owner) {
  queue_.add(owner, std::move(connection));
  close_later(CloseQueue::Size::whole_only);
  was_full_ = was_full_ || !has_room();
  tick_later();
}

void ConnectionCloser::close_later(CloseQueue::Size size) {
  while (auto batch = queue_.next(size)) {
    if (close_later(*batch)) continue;
    return queue_.put_back(std::move(*batch));
  }
}

bool ConnectionCloser::close_later(CloseQueue::Batch& batch) {
  const auto started = [&]() -> Result<pid_t> {
    if (!line_.first.valid()) line_ = CELLBLOCK_TRY(make_seqpacket_pair());
    return CELLBLOCK_TRY(close_in_child(batch.connections, line_));
  }();
  if (!started) {
    if (!std::exchange(failure_said_, true)) {
      spdlog::error("cannot close connections yet: {}", started.error().text);
    }
    return false;
  }
  failure_said_ = false;
  queue_.started(*started, batch.owner, now());
  // A closed connection has freed a descriptor. If there is none after all, the next close tries
  // again.
  if (auto line = make_seqpacket_pair()) line_ = std::move(*line);
  return true;
}

// Runs while connections wait or children may become stuck.
void ConnectionCloser::tick_later() {
  const bool is_needed = queue_.has_waiting() || queue_.has_children();
  if (!is_needed || std::exchange(timer_runs_, true)) return;
  timer_.expires_after(longest_wait);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    timer_runs_ = false;
    tick();
    tick_later();
  });
}

void ConnectionCloser::tick() {
  for (const ConnectionOwner& owner : queue_.look(now())) tell_stuck(&owner);
  close_later(CloseQueue::Size::any);
  tell_stuck(nullptr);
  tell_room();
}

// Reaps its own children only: another part reads the launcher's end.
void ConnectionCloser::reap() {
  signalfd_siginfo which;
  while (::read(child_ends_.get(), &which, sizeof which) > 0) {
  }
  for (const pid_t child : queue_.children()) {
    if (reaped(child)) queue_.ended(child, now());
  }
  if (was_full_) close_later(CloseQueue::Size::any);
  tell_stuck(nullptr);
  tell_room();
}

void ConnectionCloser::tell_room() {
  if (was_full_ && has_room()) {
    was_full_ = false;
    events_.room();
  }
}

void ConnectionCloser::tell_stuck(const ConnectionOwner* owner) {
  const std::size_t stuck = queue_.stuck();
  if (owner == nullptr && stuck == stuck_told_) return;
  stuck_told_ = stuck;
  events_.stuck(stuck, owner);
}

}  // namespace cellblock::daemon
