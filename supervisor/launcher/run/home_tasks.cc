#include "supervisor/launcher/run/home_tasks.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers)
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/os/fork_without_handlers.h"
#include "supervisor/os/sys.h"
#include "supervisor/os/timer.h"

namespace cellblock::launcher {
namespace {

using wire::HomeAction;
using wire::HomeAnswer;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_levels = 128;
constexpr std::uint64_t block_bytes = 512;  // of st_blocks, on every file system

struct CloseDirectory {
  void operator()(DIR* stream) const { closedir(stream); }
};
using Stream = std::unique_ptr<DIR, CloseDirectory>;

SysResult<Stream> open_directory(int directory, const char* name) {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  Fd opened(static_cast<int>(syscall(SYS_openat2, directory, name, &how, sizeof how)));
  if (!opened.valid()) return sys_fail("openat2");
  Stream stream(fdopendir(opened.get()));
  if (!stream) return sys_fail("fdopendir");
  opened.release();  // the stream's now
  return stream;
}

bool is_entry(const dirent& entry) {
  const std::string_view name(entry.d_name);
  return name != "." && name != "..";
}

// nullptr: there is no other one.
SysResult<const dirent*> next_entry(DIR* stream) {
  while (true) {
    errno = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread, and a stream of its own
    const dirent* entry = readdir(stream);
    if (entry == nullptr && errno != 0) return sys_fail("readdir");
    if (entry == nullptr || is_entry(*entry)) return entry;
  }
}

/// What was done, and whether more may be.
class Count {
 public:
  explicit Count(const HomeBounds& bounds) : bounds_(bounds), end_(Clock::now() + bounds.time) {}

  SysResult<void> add(const struct stat& status) {
    if (facts_.files == bounds_.files || Clock::now() > end_) return too_many();
    ++facts_.files;
    facts_.bytes += static_cast<std::uint64_t>(status.st_blocks) * block_bytes;
    return {};
  }

  static SysResult<void> too_many() { return std::unexpected(SysError{"walk", E2BIG}); }

  wire::HomeFacts facts_after(const SysResult<void>& walked) {
    if (walked) return facts_;
    const bool more = walked.error().number == E2BIG;
    facts_.answer = more ? HomeAnswer::too_many : HomeAnswer::failed;
    facts_.error = more ? 0 : walked.error().number;
    return facts_;
  }

 private:
  const HomeBounds& bounds_;
  Clock::time_point end_;
  wire::HomeFacts facts_;
};

SysResult<struct stat> status_of(int directory, const char* name) {
  struct stat status{};
  if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0) return sys_fail("fstatat");
  return status;
}

SysResult<void> enter(std::vector<Stream>& levels, const char* name) {
  if (levels.size() == most_levels) return Count::too_many();
  levels.push_back(CELLBLOCK_TRY(open_directory(dirfd(levels.back().get()), name)));
  return {};
}

// Depth first, with a stream for each level and no recursion.
SysResult<void> count_all(int home, Count& count) {
  std::vector<Stream> levels;
  levels.push_back(CELLBLOCK_TRY(open_directory(home, ".")));
  while (!levels.empty()) {
    const dirent* entry = CELLBLOCK_TRY(next_entry(levels.back().get()));
    if (entry == nullptr) {
      levels.pop_back();
      continue;
    }
    const auto status = CELLBLOCK_TRY(status_of(dirfd(levels.back().get()), entry->d_name));
    CELLBLOCK_CHECK(count.add(status));
    if (S_ISDIR(status.st_mode)) CELLBLOCK_CHECK(enter(levels, entry->d_name));
  }
  return {};
}

/// Removes what is in a directory, however deep: a directory in it is emptied into the top, under
/// names that nothing else has, so that two levels are open at any time.
class Removal {
 public:
  Removal(int home, Count& count) : home_(home), count_(count) {}

  SysResult<void> run() {
    bool is_empty = false;
    while (!is_empty) {
      const Stream top = CELLBLOCK_TRY(open_directory(home_, "."));
      is_empty = true;
      while (const dirent* entry = CELLBLOCK_TRY(next_entry(top.get()))) {
        is_empty = false;
        CELLBLOCK_CHECK(remove(entry->d_name));
      }
    }
    return {};
  }

 private:
  SysResult<void> remove(const char* name) {
    const auto status = CELLBLOCK_TRY(status_of(home_, name));
    CELLBLOCK_CHECK(count_.add(status));
    if (!S_ISDIR(status.st_mode)) return unlink_at(home_, name, 0);
    if (fchmodat(home_, name, 0700, 0) < 0) return sys_fail("fchmodat");
    {
      const Stream directory = CELLBLOCK_TRY(open_directory(home_, name));
      CELLBLOCK_CHECK(lift_out_of(directory.get()));
    }
    return unlink_at(home_, name, AT_REMOVEDIR);
  }

  SysResult<void> lift_out_of(DIR* directory) {
    while (const dirent* entry = CELLBLOCK_TRY(next_entry(directory))) {
      const auto status = CELLBLOCK_TRY(status_of(dirfd(directory), entry->d_name));
      if (S_ISDIR(status.st_mode)) {
        CELLBLOCK_CHECK(lift(dirfd(directory), entry->d_name));
      } else {
        CELLBLOCK_CHECK(count_.add(status));
        CELLBLOCK_CHECK(unlink_at(dirfd(directory), entry->d_name, 0));
      }
    }
    return {};
  }

  // It has to be writable itself, since its parent changes.
  SysResult<void> lift(int directory, const char* name) {
    if (fchmodat(directory, name, 0700, 0) < 0) return sys_fail("fchmodat");
    while (true) {
      const std::string free = ".cellblock-" + std::to_string(next_++);
      const long moved = syscall(SYS_renameat2, directory, name, home_, free.c_str(), no_replace);
      if (moved == 0) return {};
      if (errno != EEXIST) return sys_fail("renameat2");
    }
  }

  static SysResult<void> unlink_at(int directory, const char* name, int flags) {
    if (unlinkat(directory, name, flags) < 0 && errno != ENOENT) return sys_fail("unlinkat");
    return {};
  }

  static constexpr unsigned no_replace = 1;  // RENAME_NOREPLACE

  int home_;
  Count& count_;
  std::uint64_t next_ = 0;
};

}  // namespace

wire::HomeFacts walk_home(int home, HomeAction action, const HomeBounds& bounds) {
  Count count(bounds);
  return count.facts_after(action == HomeAction::clear ? Removal(home, count).run()
                                                       : count_all(home, count));
}

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
  Fd timer = CELLBLOCK_TRY(start_timer(patience_));
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
