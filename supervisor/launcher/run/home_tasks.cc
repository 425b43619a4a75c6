#include "supervisor/launcher/run/home_tasks.h"

#include <linux/capability.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers)
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "supervisor/launcher/run/home_walk.h"
#include "supervisor/os/fork_without_handlers.h"

namespace cellblock::launcher {
namespace {

constexpr std::ptrdiff_t most_tasks = 8;
constexpr std::ptrdiff_t most_of_user = 2;

// Both tell the id that was there before, whether they can change it or not.
bool change_file_system_ids(const HostIds& owner) {
  setfsgid(owner.gid);
  setfsuid(owner.uid);
  return static_cast<std::uint32_t>(setfsgid(owner.gid)) == owner.gid &&
         static_cast<std::uint32_t>(setfsuid(owner.uid)) == owner.uid;
}

// For files alone: by its other ids that user could stop this process, and keep its place. Raw
// calls: glibc's wrappers would signal threads that this copy does not have. Groups cannot be given
// up where an unprivileged user has mapped the ids: then they are that user's own.
bool become(const HostIds& owner) {
  if (syscall(SYS_setgroups, 0, nullptr) < 0 && errno != EPERM) return false;
  if (!change_file_system_ids(owner)) return false;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  return syscall(SYS_capset, &header, none.data()) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0;
}

SysResult<Fd> start_deadline(std::chrono::milliseconds time) {
  Fd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer.valid()) return sys_fail("timerfd_create");
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const itimerspec when = {
      .it_interval = {},
      .it_value = {.tv_sec = seconds.count(),
                   .tv_nsec = std::chrono::nanoseconds(time - seconds).count()}};
  if (timerfd_settime(timer.get(), 0, &when, nullptr) < 0) return sys_fail("timerfd_settime");
  return timer;
}

[[noreturn]] void walk_and_tell(const HomeTasks::Task& task, int home, int line) {
  wire::HomeFacts facts{.answer = wire::HomeAnswer::failed};
  std::array<int, 2> kept{home, line};
  std::ranges::sort(kept);
  // After the ids, whose change clears it.
  if (close_all_but(kept) && become(task.owner) && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) {
    facts = walk_home(home, task.action, {});
  } else {
    facts.error = errno;
  }
  _exit(send_record(line, facts, {}, MSG_NOSIGNAL) ? 0 : 1);
}

}  // namespace

bool HomeTasks::is_clearing(const std::string& server, std::uint32_t user) const {
  return std::ranges::any_of(children_, [&](const auto& entry) {
    const Task& task = entry.second->task;
    return task.action == wire::HomeAction::clear && task.user == user && task.server == server;
  });
}

SysResult<void> HomeTasks::may_begin(const Task& task) const {
  const bool is_there = std::ranges::any_of(children_, [&](const auto& entry) {
    return entry.second->task.user == task.user && entry.second->task.server == task.server;
  });
  const auto of_user = std::ranges::count_if(
      children_, [&](const auto& entry) { return entry.second->task.user == task.user; });
  if (!is_there && of_user < most_of_user && std::ssize(children_) < most_tasks) return {};
  return std::unexpected(SysError{"fork", EBUSY});
}

SysResult<void> HomeTasks::begin(const Task& task, Fd home, Done done) {
  CELLBLOCK_CHECK(may_begin(task));
  Fd timer = CELLBLOCK_TRY(start_deadline(patience_));
  Pair line = CELLBLOCK_TRY(make_seqpacket_pair());
  const pid_t made = fork_without_handlers();
  if (made < 0) return sys_fail("fork");
  if (made == 0) walk_and_tell(task, home.get(), line.second.get());
  auto child = std::make_unique<Child>();
  child->task = task;
  child->line = std::move(line.first);
  child->timer = std::move(timer);
  child->done = std::move(done);
  child->pidfd = Fd(static_cast<int>(syscall(SYS_pidfd_open, made, 0)));
  if (child->pidfd.valid()) return watch(std::move(child));
  const auto failure = sys_fail("pidfd_open");
  kill(made, SIGKILL);
  return failure;
}

SysResult<void> HomeTasks::watch(std::unique_ptr<Child> child) {
  const int pidfd = child->pidfd.get();
  const int timer = child->timer.get();
  children_[pidfd] = std::move(child);
  auto watched = loop_.watch_input(pidfd, [this, pidfd] { ended(pidfd); });
  if (watched) watched = loop_.watch_input(timer, [this, pidfd] { is_late(pidfd); });
  if (watched) return {};
  loop_.forget(pidfd);
  syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
  children_.erase(pidfd);
  return watched;
}

// What it waits for may not come even now: its user is answered, and it keeps its place until it
// has ended.
void HomeTasks::is_late(int pidfd) {
  Child& child = *children_.at(pidfd);
  loop_.forget(child.timer.get());
  syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
  std::exchange(child.done, nullptr)({.answer = wire::HomeAnswer::failed, .error = ETIMEDOUT});
}

void HomeTasks::ended(int pidfd) {
  const auto found = children_.find(pidfd);
  const std::unique_ptr<Child> child = std::move(found->second);
  children_.erase(found);
  loop_.forget(pidfd);
  loop_.forget(child->timer.get());
  siginfo_t info{};
  waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG);
  wire::HomeFacts facts;
  if (!receive_record(child->line.get(), facts, MSG_DONTWAIT)) {
    facts = {.answer = wire::HomeAnswer::failed, .error = EOWNERDEAD};
  }
  if (child->done) child->done(facts);
}

}  // namespace cellblock::launcher
