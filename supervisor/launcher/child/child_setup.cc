#include "supervisor/launcher/child/child_setup.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "supervisor/launcher/child/child_exec.h"
#include "supervisor/launcher/child/child_report.h"
#include "supervisor/launcher/child/init.h"

namespace cellblock::launcher {
namespace {

constexpr unsigned long locked_securebits =
    SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
    SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

// The kernel may know more capabilities than the headers did: the bounding set tells where they
// end.
constexpr int capability_limit = 64;

using CapabilityWords = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

bool set_capabilities(CapabilityWords& words) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  return syscall(SYS_capset, &header, words.data()) == 0;
}

bool get_capabilities(CapabilityWords& words) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  return syscall(SYS_capget, &header, words.data()) == 0;
}

bool drop_bounding_set() {
  for (int capability = 0; capability < capability_limit; ++capability) {
    if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) < 0) return capability > 0;
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) return false;
  }
  return true;
}

bool bounding_or_ambient_left() {
  for (int capability = 0; capability < capability_limit; ++capability) {
    const int bounding = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (bounding < 0) return false;
    if (bounding > 0 || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) > 0) {
      return true;
    }
  }
  return false;
}

bool any_capability_left() {
  CapabilityWords words{};
  if (!get_capabilities(words)) return true;
  for (const auto& word : words) {
    if ((word.effective | word.permitted | word.inheritable) != 0) return true;
  }
  return bounding_or_ambient_left();
}

}  // namespace

bool drop_capabilities(ChildPlan&) {
  // Dropping from the bounding set and setting securebits need CAP_SETPCAP, which goes last.
  if (!drop_bounding_set()) return false;
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) return false;
  if (prctl(PR_SET_SECUREBITS, locked_securebits, 0, 0, 0) < 0) return false;
  CapabilityWords none{};
  return set_capabilities(none);
}

bool prove_dropped(ChildPlan& plan) {
  errno = EPERM;
  if (any_capability_left()) return false;
  if (prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) != static_cast<int>(locked_securebits)) return false;
  CapabilityWords one{};
  one[0].effective = one[0].permitted = 1U << CAP_CHOWN;
  const bool regained = set_capabilities(one) || syscall(SYS_setresuid, 0, 0, 0) == 0 ||
                        syscall(SYS_setresuid, plan.uid + 1, plan.uid + 1, plan.uid + 1) == 0;
  errno = EPERM;
  return !regained;
}

namespace {

// The steps that make a cell's root.

// Where the launcher keeps an empty directory for the new root (own_root.h).
constexpr char new_root[] = "/cell";

constexpr unsigned long inert = MS_NOSUID | MS_NODEV | MS_NOEXEC;

bool move_tree(int tree, const char* target) {
  return syscall(SYS_move_mount, tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

bool place(int tree, const char* target) { return tree < 0 || move_tree(tree, target); }

bool mount_home(const ChildPlan& plan) {
  if (plan.home_options == nullptr) return place(plan.home.tree, plan.home.target);
  return mount("tmpfs", plan.home.target, "tmpfs", plan.home_flags, plan.home_options) == 0;
}

bool write_whole(int file, const char* bytes, std::size_t size) {
  std::size_t written = 0;
  while (written < size) {
    const ssize_t count = write(file, bytes + written, size - written);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  return true;
}

bool write_secret(const SecretFile& secret) {
  const int file = open(secret.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR);
  if (file < 0) return false;
  const bool written = write_whole(file, secret.text, secret.size);
  const int error = errno;
  close(file);
  errno = error;
  return written;
}

// What it leads to stays there when the home is mounted over it.
bool keep_covered_home(ChildPlan& plan) {
  if (plan.home_file_count == 0) return true;
  plan.covered_home = open(plan.home.target, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return plan.covered_home >= 0;
}

bool build_root(ChildPlan& plan) {
  if (!move_tree(plan.root_tree, new_root) || chdir(new_root) < 0) return false;
  if (mount("tmpfs", "tmp", "tmpfs", inert, plan.tmp_options) < 0) return false;
  if (mount("tmpfs", "dev/shm", "tmpfs", inert, plan.shm_options) < 0) return false;
  return keep_covered_home(plan) && mount_home(plan) &&
         place(plan.workspace.tree, workspace_directory + 1);
}

bool close_keeping(int descriptor, bool succeeded) {
  const int error = errno;
  close(descriptor);
  errno = error;
  return succeeded;
}

// A server may have left anything in its home, and other cells may change it meanwhile: one name
// at a time, and nothing that leads elsewhere.
int open_in_home(int directory, const char* name, std::uint64_t flags) {
  open_how how{};
  how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | flags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return static_cast<int>(syscall(SYS_openat2, directory, name, &how, sizeof how));
}

int open_made(int directory, const char* name, mode_t kind) {
  const std::uint64_t flags = S_ISDIR(kind) ? O_DIRECTORY : 0;
  const int found = open_in_home(directory, name, flags);
  if (found >= 0 || errno != ENOENT) return found;
  const int made = S_ISDIR(kind) ? mkdirat(directory, name, S_IRWXU)
                                 : mknodat(directory, name, S_IFREG | S_IRUSR | S_IWUSR, 0);
  if (made < 0 && errno != EEXIST) return -1;
  return open_in_home(directory, name, flags);
}

// The next name of `path`, which is left behind it. False: none is left.
bool take_name(const char*& path, char (&name)[NAME_MAX + 1]) {
  const char* end = strchrnul(path, '/');
  const auto length = static_cast<std::size_t>(end - path);
  if (length == 0 || length > NAME_MAX) return false;
  std::memcpy(name, path, length);
  name[length] = 0;
  path = *end == 0 ? end : end + 1;
  return true;
}

// `kind`: of what is mounted there. What comes before it is a directory.
int mount_point_below(int home, const char* path, mode_t kind) {
  int directory = dup(home);
  char name[NAME_MAX + 1];
  while (directory >= 0 && take_name(path, name)) {
    const int next = open_made(directory, name, *path == 0 ? kind : S_IFDIR);
    close_keeping(directory, true);
    directory = next;
  }
  return directory;
}

bool is_of_kind(int found, mode_t kind) {
  struct stat status{};
  if (fstat(found, &status) < 0) return false;
  errno = EEXIST;
  return (status.st_mode & S_IFMT) == kind;
}

bool attach_at(int tree, int place) {
  constexpr unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
  return syscall(SYS_move_mount, tree, "", place, "", flags) == 0;
}

bool attach_in_home(int tree, int home, const char* path) {
  struct stat status{};
  if (fstat(tree, &status) < 0) return false;
  const mode_t kind = status.st_mode & S_IFMT;
  const int place = mount_point_below(home, path, kind);
  if (place < 0) return false;
  return close_keeping(place, is_of_kind(place, kind) && attach_at(tree, place));
}

bool place_home_file(const ChildPlan& plan, int home, const char* path) {
  constexpr unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
  const long tree = syscall(SYS_open_tree, plan.covered_home, path, flags);
  if (tree < 0) return false;
  return close_keeping(static_cast<int>(tree), attach_in_home(static_cast<int>(tree), home, path));
}

bool place_all_home_files(const ChildPlan& plan, int home) {
  for (std::size_t i = 0; i < plan.home_file_count; ++i) {
    if (!place_home_file(plan, home, plan.home_files[i])) return false;
  }
  return true;
}

bool place_home_files(ChildPlan& plan) {
  if (plan.home_file_count == 0) return true;
  const int home = open(plan.home.target, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (home < 0) return false;
  const bool placed = close_keeping(home, place_all_home_files(plan, home));
  return close_keeping(plan.covered_home, placed);
}

bool place_secrets(ChildPlan& plan) {
  if (plan.secret_file_count == 0) return true;
  constexpr char directory[] = "run/secrets";
  if (mount("tmpfs", directory, "tmpfs", inert, plan.secret_options) < 0) return false;
  for (std::size_t i = 0; i < plan.secret_file_count; ++i) {
    if (!write_secret(plan.secret_files[i])) return false;
  }
  // The file system itself, not this mount of it alone.
  return mount(nullptr, directory, nullptr, MS_REMOUNT | MS_RDONLY | inert, nullptr) == 0;
}

bool mount_proc(ChildPlan&) {
  return mount("proc", "proc", "proc", inert | MS_RDONLY, "subset=pid,hidepid=ptraceable") == 0;
}

// pivot_root(".", ".") stacks the old root on the new one, so no directory has to be made for it.
bool enter_root(ChildPlan& plan) {
  if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0) return false;
  if (chdir(plan.working_directory) < 0) return false;
  struct statvfs root{};
  if (statvfs("/", &root) < 0) return false;
  errno = EROFS;
  return (root.f_flag & ST_RDONLY) != 0;
}

}  // namespace
}  // namespace cellblock::launcher

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

namespace cellblock::launcher {
namespace {

// Nothing may lead elsewhere: no link, no `..` above the root, no /proc of another process.
int open_strictly_below(const char* root, const char* path) {
  const int base = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (base < 0) return -1;
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long found = syscall(SYS_openat2, base, path, &how, sizeof how);
  const int error = errno;
  close(base);
  errno = error;
  return static_cast<int>(found);
}

bool is_that(int found, const DirectoryIdentity& wanted) {
  DirectoryIdentity identity;
  if (!identify_directory(found, identity)) return false;
  errno = ESTALE;
  return identity == wanted;
}

int mount_of(int directory, std::uint64_t attributes) {
  constexpr unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH;
  const long tree = syscall(SYS_open_tree, directory, "", flags);
  if (tree < 0) return -1;
  mount_attr words{};
  words.attr_set = attributes;
  if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &words, sizeof words) <
      0) {
    return -1;
  }
  return static_cast<int>(tree);
}

}  // namespace

// What is opened here is close-on-exec, and closed by close_descriptors or keep_only (init.cc).
bool open_workspace(ChildPlan& plan) {
  if (!plan.workspace.passed) return true;
  const int found = open_strictly_below(plan.workspace.root, plan.workspace.below);
  if (found < 0 || !is_that(found, plan.workspace.identity)) return false;
  plan.workspace.tree = mount_of(found, plan.workspace.attributes);
  return plan.workspace.tree >= 0;
}

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
  do_step(plan, SetupStep::place_home_files, place_home_files);
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
