#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/files_at_hand.h"

namespace cellblock::probe {
namespace {

// So that root on an ordinary machine changes his own view only. Where this is refused, so are the
// calls it prepares for, or what they change is the sandbox's.
void keep_mounts_private() {
  if (::unshare(CLONE_NEWNS) == 0) {
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  }
}

const char* some_directory() { return exists("/tmp") ? "/tmp" : "/proc"; }

Outcome undone(long result, const char* target) {
  const Outcome outcome = from_call(result);
  if (result >= 0) ::umount2(target, MNT_DETACH);
  return outcome;
}

Outcome mount_of(const char* type, const char* options) {
  keep_mounts_private();
  return undone(::mount("cellblock-probe", some_directory(), type, 0, options), some_directory());
}
Outcome mount_tmpfs(const Setting&) { return mount_of("tmpfs", nullptr); }
Outcome mount_proc(const Setting&) { return mount_of("proc", nullptr); }
Outcome mount_cgroup(const Setting&) {
  const Outcome first = mount_of("cgroup2", nullptr);
  return first.kind == OutcomeKind::open ? first : mount_of("cgroup", "none,name=cellblock_probe");
}
Outcome mount_overlay(const Setting&) { return mount_of("overlay", "lowerdir=/usr/bin:/usr/lib"); }

Outcome bind(const Setting&) {
  keep_mounts_private();
  return undone(::mount("/usr", some_directory(), nullptr, MS_BIND, nullptr), some_directory());
}

Outcome make_writable(const Setting&) {
  keep_mounts_private();
  return from_call(::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND, nullptr));
}

Outcome make_shared(const Setting&) {
  keep_mounts_private();
  return from_call(::mount(nullptr, "/", nullptr, MS_SHARED, nullptr));
}

// Nothing is mounted there.
Outcome unmount(const Setting&) {
  keep_mounts_private();
  return from_harmless_call(::umount2(exists("/proc/self") ? "/proc/self" : "/usr/bin", 0));
}

Outcome change_root(const Setting&) { return from_call(::chroot("/")); }

Outcome pivot(const Setting&) {
  return from_harmless_call(::syscall(SYS_pivot_root, "/cellblock-probe", "/cellblock-probe"));
}

Outcome open_file_system(const Setting&) {
  return from_call(::syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC));
}
Outcome pick_file_system(const Setting&) {
  return from_harmless_call(::syscall(SYS_fspick, AT_FDCWD, "/cellblock-probe", 0));
}
Outcome clone_tree(const Setting&) {
  return from_call(::syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
}
Outcome move_mount(const Setting&) {
  return from_harmless_call(::syscall(SYS_move_mount, -1, "", -1, "", 0));
}
Outcome set_attributes(const Setting&) {
  mount_attr nothing{};
  keep_mounts_private();
  return from_call(::syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &nothing, sizeof nothing));
}

// Before there were headers for them; the numbers are the same on every architecture.
constexpr long list_mount_call = 458;
struct MountRequest {
  std::uint32_t size, spare;
  std::uint64_t mount, parameter;
};
Outcome list_mounts(const Setting&) {
  const MountRequest request{24, 0, ~std::uint64_t{0}, 0};  // LSMT_ROOT
  std::uint64_t mounts[4]{};
  return from_call(::syscall(list_mount_call, &request, mounts, 4, 0));
}

Outcome open_by_flags(const Setting&) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC;
  const Open file(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how)));
  return from_call(file.get());
}

// --- namespaces ----------------------------------------------------------------------------------

template <int flag>
Outcome unshare_it(const Setting&) {
  return from_call(::unshare(flag));
}
constexpr int new_time = 0x80;  // CLONE_NEWTIME

Outcome of_clone(long child) {
  if (child == 0) ::_exit(0);
  // Its limit of processes held it, and might not the next time.
  if (child < 0 && errno == EAGAIN) return not_begun("no process could be started");
  const Outcome outcome = from_call(child);
  if (child > 0) ::waitpid(static_cast<pid_t>(child), nullptr, 0);
  return outcome;
}
Outcome clone_user(const Setting&) {
  return of_clone(::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
}
// The upper half of the word is not looked at by the kernel, so a filter must not either.
Outcome clone_user_high(const Setting&) {
  return of_clone(::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD | 1UL << 40, 0, 0, 0, 0));
}
Outcome clone_network(const Setting&) {
  return of_clone(::syscall(SYS_clone, CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0));
}
Outcome clone3_user(const Setting&) {
  clone_args arguments{};
  arguments.flags = CLONE_NEWUSER;
  arguments.exit_signal = SIGCHLD;
  return of_clone(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

Outcome capable_by_namespace(const Setting&) {
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) return held(errno);
  return undone(::mount("cellblock-probe", some_directory(), "tmpfs", 0, nullptr),
                some_directory());
}

constexpr Attempt attempts[] = {
    {"mount_tmpfs", "directories can be covered with its own", mount_tmpfs},
    {"mount_proc", "a /proc without its masks can be had", mount_proc},
    {"mount_cgroup", "release_agent runs a program as root", mount_cgroup},
    {"mount_overlay", "files can be changed in the eyes of set-user-id programs", mount_overlay},
    {"bind_mount", "files can be shown in other places", bind},
    {"remount_writable", "what was given to read can be written", make_writable},
    {"share_mounts", "mounts made inside appear outside", make_shared},
    {"unmount", "what covers something can be taken away", unmount},
    {"change_root", "a set-user-id program can be given false files", change_root},
    {"pivot_root", "the root can be exchanged", pivot},
    {"open_file_system", "file systems can be made by descriptor", open_file_system},
    {"pick_file_system", "file systems can be reconfigured", pick_file_system},
    {"clone_mount_tree", "mounts can be copied by descriptor", clone_tree},
    {"move_mount", "mounts can be moved by descriptor", move_mount},
    {"set_mount_attributes", "read-only can be taken off", set_attributes},
    {"list_mounts", "the mounts of the host are in sight", list_mounts},
    {"open_by_hidden_flags", "what open does is out of a filter's sight", open_by_flags},
    {"unshare_user", "a namespace in which it has every capability", unshare_it<CLONE_NEWUSER>},
    {"unshare_mounts", "a view of files of its own making", unshare_it<CLONE_NEWNS>},
    {"unshare_network", "interfaces and packet filters of its own", unshare_it<CLONE_NEWNET>},
    {"unshare_pids", "processes out of sight", unshare_it<CLONE_NEWPID>},
    {"unshare_ipc", "message queues of its own", unshare_it<CLONE_NEWIPC>},
    {"unshare_uts", "a host name of its own", unshare_it<CLONE_NEWUTS>},
    {"unshare_cgroup", "a root of groups of its own", unshare_it<CLONE_NEWCGROUP>},
    {"unshare_time", "clocks of its own", unshare_it<new_time>},
    {"clone_user", "a child has every capability in its namespace", clone_user},
    {"clone_user_high_bits", "flags are hidden in the upper half of a word", clone_user_high},
    {"clone_network", "a child has a network of its own", clone_network},
    {"clone3_user", "flags are hidden behind a pointer", clone3_user},
    {"mount_by_user_namespace", "kernel code for root is within reach", capable_by_namespace},
};

}  // namespace

std::span<const Attempt> mounts_attempts() { return attempts; }

}  // namespace cellblock::probe
