#include "supervisor/handover/launcher_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "policy/failures/helper_end.h"
#include "supervisor/os/fork_without_handlers.h"
#include "supervisor/os/sys.h"
#include "supervisor/process/children.h"
#include "supervisor/process/forked_work.h"
#include "supervisor/process/spawn.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;

/// With the namespace, or without one after a call that failed.
struct Word {
  int step = 0;
  int error = 0;
};

constexpr std::array steps{"close_range", "setns", "unshare", "open", "prctl"};

// --- in the child -------------------------------------------------------------------------------

SysResult<Fd> make_view(int user_namespace) {
  if (::setns(user_namespace, CLONE_NEWUSER) < 0) return sys_fail(steps[1]);
  // The change of capabilities has set the dumpable flag to fs.suid_dumpable, and this child has a
  // copy of the supervisor's memory.
  if (::prctl(PR_SET_DUMPABLE, 0) < 0) return sys_fail(steps[4]);
  if (::unshare(CLONE_NEWNS) < 0) return sys_fail(steps[2]);
  return open_at(AT_FDCWD, "/proc/self/ns/mnt", O_RDONLY);
}

int step_of(const SysError& error) {
  const auto found = std::ranges::find(steps, std::string_view(error.call));
  return static_cast<int>(found - steps.begin());
}

[[noreturn]] void make_and_send(int user_namespace, int line) {
  std::array<int, 2> kept{user_namespace, line};
  std::ranges::sort(kept);
  if (!close_all_but(kept)) ::_exit(1);
  const auto view = make_view(user_namespace);
  SysResult<void> sent;
  if (view) {
    const int descriptor = view->get();
    sent = send_record(line, Word{}, std::span(&descriptor, 1));
  } else {
    sent = send_record(line, Word{step_of(view.error()), view.error().number});
  }
  ::_exit(sent ? 0 : 1);
}

// --------------------------------------------------------------------------------------------------

SysResult<Fd> take_view(int line) {
  Word word;
  Received received = CELLBLOCK_TRY(receive_record(line, word));
  if (received.fds.size() == 1) return std::move(received.fds[0]);
  const auto step = static_cast<std::size_t>(word.step);
  return std::unexpected(SysError{step < steps.size() ? steps[step] : "child", word.error});
}

void reap(pid_t child) {
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

SysResult<Fd> host_view(int user_namespace, milliseconds patience) {
  Pair line = CELLBLOCK_TRY(make_seqpacket_pair());
  const pid_t child = fork_without_handlers();
  if (child < 0) return sys_fail("fork");
  if (child == 0) make_and_send(user_namespace, line.second.get());
  line.second.reset();
  // The child's one message, or its end.
  const auto came = wait_readable(line.first.get(), patience);
  auto view = came ? take_view(line.first.get()) : std::unexpected(came.error());
  ::kill(child, SIGKILL);  // the child is done
  reap(child);
  return view;
}

namespace {

using Clock = std::chrono::steady_clock;

// A killed cell needs as long as the kernel needs to tear its memory down.
constexpr milliseconds time_to_die{10'000};
// Copying the host's mount table takes milliseconds, in which no connection is served.
constexpr milliseconds view_patience{5'000};

milliseconds until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  return std::max(left, milliseconds{0});
}

enum class Woke : std::uint8_t { timeout, report, death };

// Reads a report before it looks at a death: the launcher's last report explains its end.
SysResult<Woke> wait_for(int channel, int pidfd, Clock::time_point deadline) {
  std::array<pollfd, 2> watched{{{channel, POLLIN, 0}, {pidfd, POLLIN, 0}}};
  int count = -1;
  do {
    count = ::poll(watched.data(), watched.size(), static_cast<int>(until(deadline).count()));
  } while (count < 0 && errno == EINTR);
  if (count < 0) return sys_fail("poll");
  if (watched[0].revents & POLLIN) return Woke::report;
  return count > 0 ? Woke::death : Woke::timeout;
}

// Most children have ended before this call.
constexpr milliseconds time_to_close{500};

std::vector<pid_t> still_closing(std::vector<pid_t> children) {
  const auto deadline = Clock::now() + time_to_close;
  std::erase_if(children, [&](pid_t child) { return await_child(child, until(deadline)); });
  if (!children.empty()) {
    spdlog::warn("{} of the processes that close connections wait for what a peer sent, and stay",
                 children.size());
  }
  return children;
}

// At start-up the audit writer is the one process that can end before its time.
Error not_due(const wire::LauncherReport& report, wire::LauncherReportKind due) {
  if (report.kind == wire::LauncherReportKind::audit_ended) {
    return Error{"the audit writer " + explain_end(report.facts)};
  }
  if (report.kind == due) return Error{"the launcher's report lacks what comes with it"};
  return Error{"the launcher sent report " + std::to_string(static_cast<int>(report.kind)) +
               " where " + std::to_string(static_cast<int>(due)) + " was due"};
}

}  // namespace

Result<LauncherProcess> LauncherProcess::start(int program, std::span<const int> fds) {
  Pair channel = CELLBLOCK_TRY(make_seqpacket_pair());
  std::vector<int> passed{channel.second.get()};
  passed.insert(passed.end(), fds.begin(), fds.end());
  const auto pid = spawn(program, {"cellblock-launcher"}, passed);
  if (!pid) return fail("cannot start the launcher: " + pid.error().text());
  Fd pidfd = open_pidfd(*pid);
  LauncherProcess launcher(*pid, std::move(pidfd), std::move(channel.first));
  if (!launcher.pidfd_.valid()) return sys_fail("pidfd_open");
  return launcher;
}

LauncherProcess LauncherProcess::inherited(pid_t pid, Fd pidfd, Fd channel, Fd user_namespace) {
  LauncherProcess launcher(pid, std::move(pidfd), std::move(channel));
  launcher.user_namespace_ = std::move(user_namespace);
  return launcher;
}

LauncherProcess::LauncherProcess(LauncherProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      channel_(std::move(other.channel_)),
      user_namespace_(std::move(other.user_namespace_)) {}

LauncherProcess::~LauncherProcess() {
  // A destructor cannot return the result; a caller that needs it calls end() first.
  [[maybe_unused]] const auto ended = end(milliseconds{0});
}

Result<void> LauncherProcess::await(wire::LauncherReportKind kind, milliseconds timeout) {
  const Woke woke = CELLBLOCK_TRY(wait_for(channel_.get(), pidfd_.get(), Clock::now() + timeout));
  if (woke == Woke::timeout) {
    return fail("the launcher did not answer within " + std::to_string(timeout.count()) + " ms");
  }
  if (woke == Woke::death) return std::unexpected(explain_death());
  wire::LauncherReport report;
  auto received = receive_record(channel_.get(), report, MSG_DONTWAIT);
  if (!received && received.error().number == EPIPE) return std::unexpected(explain_death());
  if (!received) return fail("the launcher sent nonsense: " + received.error().text());
  const std::size_t due = kind == wire::LauncherReportKind::user_namespace_made ? 1 : 0;
  if (report.kind != kind || received->fds.size() != due) {
    return std::unexpected(not_due(report, kind));
  }
  if (due == 1) user_namespace_ = std::move(received->fds[0]);
  return {};
}

Result<void> LauncherProcess::tell(const wire::SupervisorRequest& request,
                                   std::span<const int> fds) const {
  // Never blocks: a launcher that does not read must not stop the supervisor.
  CELLBLOCK_CHECK(send_record(channel_.get(), request, fds, MSG_DONTWAIT));
  return {};
}

Result<void> LauncherProcess::reload(const Fd& config, const Fd& secrets,
                                     const Fd& owner_mounts) const {
  const auto view = host_view(user_namespace_.get(), view_patience);
  if (!view) return fail("cannot show the launcher the host: " + view.error().text());
  const std::array fds{config.get(), secrets.get(), view->get(), owner_mounts.get()};
  return tell({.kind = wire::SupervisorRequestKind::reload}, fds);
}

Error LauncherProcess::explain_death() {
  siginfo_t info{};
  // End of the channel may be seen a moment before the death itself.
  if (::kill(pid_, SIGKILL) < 0 ||
      ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) < 0) {
    return Error{"the launcher is gone"};
  }
  if (info.si_code == CLD_EXITED) {
    return Error{"the launcher exited with code " + std::to_string(info.si_status)};
  }
  return Error{"the launcher was killed by signal " + std::to_string(info.si_status)};
}

Result<void> LauncherProcess::end(milliseconds patience, const std::vector<pid_t>& closing) {
  if (pid_ < 0) return {};
  channel_.reset();
  if (!await_child(pid_, patience)) {
    ::kill(pid_, SIGKILL);
    if (!await_child(pid_, time_to_die)) return fail("the launcher cannot be killed");
  }
  pid_ = -1;
  pidfd_.reset();
  // The launcher's children died with it and became children of this process, their subreaper.
  const std::vector<pid_t> stuck = still_closing(closing);
  if (!await_no_children_but(stuck, time_to_die)) {
    return fail("a process of a cell cannot be killed");
  }
  return {};
}

}  // namespace cellblock::daemon
