#include "supervisor/launcher/child/child_setup.h"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "supervisor/launcher/child/child_drop.h"
#include "supervisor/launcher/child/child_exec.h"
#include "supervisor/launcher/child/child_report.h"
#include "supervisor/launcher/child/child_root.h"
#include "supervisor/launcher/child/child_workspace.h"
#include "supervisor/launcher/child/init.h"

namespace cellblock::launcher {
namespace {

bool wait_for_launcher(ChildPlan& plan) {
  char byte = 0;
  const ssize_t count = read(plan.go, &byte, 1);
  if (count == 0) errno = EPIPE;
  // Dumpable until here for the launcher's sake (spawn.cc, DumpableWindow).
  return count == 1 && prctl(PR_SET_DUMPABLE, 0) == 0;
}

bool new_session(ChildPlan&) { return setsid() >= 0; }

bool become_user(ChildPlan& plan) {
  // Raw calls: glibc's wrappers would signal threads that this copy does not have.
  if (plan.groups == ChildPlan::Groups::clear && syscall(SYS_setgroups, 0, nullptr) < 0) {
    return false;
  }
  // A change of ids makes it what fs.suid_dumpable says, which may be 1.
  return syscall(SYS_setresgid, plan.gid, plan.gid, plan.gid) == 0 &&
         syscall(SYS_setresuid, plan.uid, plan.uid, plan.uid) == 0 &&
         prctl(PR_SET_DUMPABLE, 0) == 0;
}

// After become_user, since changing ids clears it. A parent that died before this call sends
// nothing any more; getppid() says nothing in a new pid namespace, but the report socket does.
bool die_with_launcher(ChildPlan& plan) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) return false;
  pollfd launcher{plan.report, 0, 0};
  const int ready = poll(&launcher, 1, 0);
  if (ready > 0) errno = EPIPE;
  return ready == 0;
}

// The namespace of groups has the maker's group as its root, so it is made from the inside: the
// launcher's would show where the cell is in the host's tree.
bool isolate_mounts(ChildPlan&) {
  if (syscall(SYS_unshare, CLONE_NEWCGROUP) < 0) return false;
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

bool set_hostname(ChildPlan& plan) {
  return sethostname(plan.hostname, std::strlen(plan.hostname)) == 0;
}

bool set_namespace_limit(const char* file, const char* value) {
  const int fd = open(file, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const auto length = static_cast<ssize_t>(std::strlen(value));
  const bool written = write(fd, value, static_cast<std::size_t>(length)) == length;
  const int error = errno;
  close(fd);
  errno = error;
  return written;
}

// Every capability is about to go, but unshare(CLONE_NEWUSER) needs none: without this a hole in
// the filter would be enough to have them all again in a namespace below.
//
// inotify is counted for the cell's id and for whoever made its namespace, which is the daemon's:
// one server with all the instances would leave none to the others.
bool forbid_user_namespaces(ChildPlan&) {
  return set_namespace_limit("/proc/sys/user/max_user_namespaces", "0") &&
         set_namespace_limit("/proc/sys/user/max_inotify_instances", "16") &&
         set_namespace_limit("/proc/sys/user/max_inotify_watches", "65536");
}

bool set_limits(ChildPlan& plan) {
  for (const ResourceLimit& limit : plan.limits) {
    const struct rlimit words{limit.value, limit.value};
    if (setrlimit(static_cast<__rlimit_resource>(limit.resource), &words) < 0) return false;
  }
  umask(022);  // what a server writes into a declared directory is for somebody to read
  return true;
}

bool no_new_privileges(ChildPlan&) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return false;
  errno = EPERM;
  return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

// A kernel without keyrings has none to share.
bool new_keyring(ChildPlan&) {
  return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) >= 0 || errno == ENOSYS;
}

// What init, guardian and server all give up, each for itself: capabilities belong to a process.
void give_up_privilege(ChildPlan& plan) {
  do_step(plan, SetupStep::drop_capabilities, drop_capabilities);
  do_step(plan, SetupStep::prove_dropped, prove_dropped);
  do_step(plan, SetupStep::no_new_privileges, no_new_privileges);
  do_step(plan, SetupStep::new_keyring, new_keyring);
}

// Some servers exit when their parent's pid is 0, 1 or small, taking it for a lost host. Asking for
// a pid needs CAP_SYS_ADMIN over the pid namespace, so this comes before the capabilities go.
constexpr pid_t guardian_pid = 1000;

pid_t start_guardian(ChildPlan& plan) {
  pid_t wanted = guardian_pid;
  clone_args args{};
  args.exit_signal = SIGCHLD;
  args.set_tid = reinterpret_cast<std::uintptr_t>(&wanted);
  args.set_tid_size = 1;
  if (injected_fault(plan, SetupStep::start_guardian)) {
    fail_step(plan, SetupStep::start_guardian, errno);
  }
  const long pid = syscall(SYS_clone3, &args, sizeof args);
  if (pid < 0) fail_step(plan, SetupStep::start_guardian, errno);
  return static_cast<pid_t>(pid);
}

pid_t start_server(ChildPlan& plan) {
  if (injected_fault(plan, SetupStep::start_server)) {
    fail_step(plan, SetupStep::start_server, errno);
  }
  clone_args args{};
  args.exit_signal = SIGCHLD;
  const long pid = syscall(SYS_clone3, &args, sizeof args);
  if (pid < 0) fail_step(plan, SetupStep::start_server, errno);
  return static_cast<pid_t>(pid);
}

[[noreturn]] void become_guardian(ChildPlan& plan) {
  // The death of init ends this process anyway; this also covers a set-up that stops half-way.
  do_step(plan, SetupStep::die_with_launcher, die_with_launcher);
  give_up_privilege(plan);
  const pid_t server = start_server(plan);
  if (server == 0) exec_server(plan);
  run_guardian(plan, server);
}

}  // namespace

void run_child(ChildPlan& plan) noexcept {
  prctl(PR_SET_NAME, "cellblock-init");
  do_step(plan, SetupStep::wait_for_launcher, wait_for_launcher);
  do_step(plan, SetupStep::new_session, new_session);
  do_step(plan, SetupStep::become_user, become_user);
  do_step(plan, SetupStep::die_with_launcher, die_with_launcher);
  do_step(plan, SetupStep::isolate_mounts, isolate_mounts);
  do_step(plan, SetupStep::set_hostname, set_hostname);
  do_step(plan, SetupStep::forbid_user_namespaces, forbid_user_namespaces);
  do_step(plan, SetupStep::open_workspace, open_workspace);
  do_step(plan, SetupStep::build_root, build_root);
  do_step(plan, SetupStep::place_secrets, place_secrets);
  do_step(plan, SetupStep::mount_proc, mount_proc);
  do_step(plan, SetupStep::enter_root, enter_root);
  // From here nothing of the host can be named, only what the plan's descriptors hold.
  do_step(plan, SetupStep::set_limits, set_limits);
  const pid_t guardian = start_guardian(plan);
  if (guardian == 0) become_guardian(plan);
  give_up_privilege(plan);
  // From here pid 1 is a reaper and nothing else.
  run_init(plan, guardian);
}

}  // namespace cellblock::launcher
