#include "supervisor/daemon/doctor/namespace_attempt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "supervisor/daemon/load/forked_work.h"

namespace cellblock::daemon {
namespace {

using Step = NamespaceStep;

constexpr std::chrono::milliseconds attempt_patience{10'000};
constexpr unsigned long inert_mount = MS_NOSUID | MS_NODEV | MS_NOEXEC;
constexpr int cell_namespaces =
    CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET | CLONE_NEWCGROUP;

bool becomes(const AttemptIds& ids) {
  return ::setgroups(0, nullptr) == 0 && ::setresgid(ids.gid, ids.gid, ids.gid) == 0 &&
         ::setresuid(ids.uid, ids.uid, ids.uid) == 0;
}

bool write_file(const char* path, const std::string& text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_written = ::write(file, text.data(), text.size()) == std::ssize(text);
  const int error = errno;
  ::close(file);
  errno = error;
  return is_written;
}

// A process that is not dumpable has files in /proc that belong to root.
bool map_own_ids(const AttemptIds& ids) {
  return ::prctl(PR_SET_DUMPABLE, 1) == 0 && write_file("/proc/self/setgroups", "deny") &&
         write_file("/proc/self/uid_map", fmt::format("{0} {0} 1\n", ids.uid)) &&
         write_file("/proc/self/gid_map", fmt::format("{0} {0} 1\n", ids.gid));
}

bool mount_something() {
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", "/", "tmpfs", inert_mount, "size=4k") == 0;
}

// As child_root.cc does it.
int mount_own_proc() {
  const bool is_mounted = ::mount("proc", "/proc", "proc", inert_mount | MS_RDONLY,
                                  "subset=pid,hidepid=ptraceable") == 0;
  return is_mounted ? 0 : errno;
}

// The first process of a pid namespace is the child of the one that made it.
bool mounts_proc() {
  const pid_t first = ::fork();
  if (first < 0) return false;
  if (first == 0) ::_exit(mount_own_proc());
  int status = 0;
  while (::waitpid(first, &status, 0) < 0 && errno == EINTR) {
  }
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
  return errno == 0;
}

Step first_failure(const AttemptIds& ids) {
  if (::unshare(CLONE_NEWUSER) != 0) return Step::user;
  if (!map_own_ids(ids)) return Step::ids;
  if (::unshare(cell_namespaces) != 0) return Step::other;
  if (!mount_something()) return Step::mount;
  if (!write_file("/proc/sys/user/max_user_namespaces", "0")) return Step::limit;
  return mounts_proc() ? Step::done : Step::proc;
}

NamespaceAttempt attempt(const std::optional<AttemptIds>& as) {
  if (as && !becomes(*as)) return {.step = Step::user, .error = errno};
  const Step step = first_failure({::geteuid(), ::getegid()});
  return {.step = step, .error = step == Step::done ? 0 : errno};
}

}  // namespace

NamespaceAttempt attempt_namespaces(std::optional<AttemptIds> as) {
  auto work =
      ForkedWork::begin({}, [&as](int line) { static_cast<void>(send_record(line, attempt(as))); });
  if (!work) return {.step = Step::user, .error = work.error().number};
  NamespaceAttempt result;
  const auto bytes = std::as_writable_bytes(std::span(&result, 1));
  const auto received = work->next(bytes, attempt_patience);
  if (!received) return {.step = Step::user, .error = received.error().number};
  return result;
}

}  // namespace cellblock::daemon
