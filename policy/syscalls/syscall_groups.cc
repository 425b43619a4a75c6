#include "policy/syscalls/syscall_groups.h"

#include "policy/syscalls/syscall_arguments.h"
#include "policy/syscalls/syscall_refusals.h"

namespace cellblock {
namespace {

constexpr std::string_view program_calls[] = {"execve",
                                              "execveat",
                                              "arch_prctl",
                                              "brk",
                                              "exit",
                                              "exit_group",
                                              "getrandom",
                                              "set_tid_address",
                                              "set_robust_list",
                                              "get_robust_list",
                                              "rseq",
                                              "restart_syscall",
                                              "uname",
                                              "sysinfo",
                                              "umask"};
constexpr SyscallGroup programs = {
    "programs", "starting and ending; what the C library does before main", program_calls};

constexpr std::string_view memory_calls[] = {
    "mmap",  "munmap", "mremap",  "mprotect",   "madvise",    "mincore", "msync",
    "mlock", "mlock2", "munlock", "munlockall", "membarrier", "mseal",   "get_mempolicy"};
constexpr SyscallGroup memory = {
    "memory", "mappings of its own; writable code stays possible, every JIT needs it",
    memory_calls};

constexpr std::string_view process_calls[] = {"fork",
                                              "vfork",
                                              "wait4",
                                              "waitid",
                                              "getpid",
                                              "getppid",
                                              "gettid",
                                              "getpgid",
                                              "getpgrp",
                                              "setpgid",
                                              "getsid",
                                              "setsid",
                                              "kill",
                                              "tkill",
                                              "tgkill",
                                              "getrusage",
                                              "times",
                                              "pidfd_open",
                                              "pidfd_send_signal",
                                              "process_mrelease"};
constexpr SyscallGroup processes = {
    "processes", "children, and signals to them: the pid namespace holds nobody else",
    process_calls, argument_rules::processes};

constexpr std::string_view scheduling_calls[] = {"sched_yield",
                                                 "sched_getaffinity",
                                                 "sched_setaffinity",
                                                 "sched_getattr",
                                                 "sched_getparam",
                                                 "sched_getscheduler",
                                                 "sched_get_priority_max",
                                                 "sched_get_priority_min",
                                                 "getcpu",
                                                 "getpriority",
                                                 "setpriority",
                                                 "ioprio_get",
                                                 "getrlimit",
                                                 "setrlimit"};
constexpr SyscallGroup scheduling = {
    "scheduling", "asks about limits and priorities, and lowers its own; hard limits hold",
    scheduling_calls, argument_rules::scheduling};

constexpr std::string_view thread_calls[] = {"futex", "futex_wait", "futex_wake", "futex_waitv",
                                             "futex_requeue"};
constexpr SyscallGroup threads = {"threads", "locks", thread_calls};

constexpr std::string_view signal_calls[] = {
    "rt_sigaction",  "rt_sigprocmask",  "rt_sigreturn",    "rt_sigpending",
    "rt_sigsuspend", "rt_sigtimedwait", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
    "sigaltstack",   "signalfd",        "signalfd4",       "pause"};
constexpr SyscallGroup signals = {"signals", "receiving them", signal_calls};

constexpr std::string_view time_calls[] = {"clock_gettime",   "clock_getres",   "clock_nanosleep",
                                           "nanosleep",       "gettimeofday",   "time",
                                           "alarm",           "getitimer",      "setitimer",
                                           "timer_create",    "timer_delete",   "timer_getoverrun",
                                           "timer_gettime",   "timer_settime",  "timerfd_create",
                                           "timerfd_gettime", "timerfd_settime"};
constexpr SyscallGroup time = {"time", "reads clocks and sets its own alarms; sets no clock",
                               time_calls};

constexpr std::string_view identity_calls[] = {"getuid",    "geteuid",   "getgid",    "getegid",
                                               "getresuid", "getresgid", "getgroups", "capget"};
constexpr SyscallGroup identity = {"identity", "asks who it is", identity_calls};

constexpr std::string_view descriptor_calls[] = {
    "read",     "write",   "readv",   "writev",         "pread64", "pwrite64",
    "preadv",   "pwritev", "preadv2", "pwritev2",       "close",   "close_range",
    "dup",      "dup2",    "dup3",    "lseek",          "pipe",    "pipe2",
    "sendfile", "splice",  "tee",     "copy_file_range"};
constexpr SyscallGroup descriptors = {"descriptors", "input and output", descriptor_calls,
                                      argument_rules::descriptors};

constexpr std::string_view waiting_calls[] = {"poll",
                                              "ppoll",
                                              "select",
                                              "pselect6",
                                              "epoll_create",
                                              "epoll_create1",
                                              "epoll_ctl",
                                              "epoll_wait",
                                              "epoll_pwait",
                                              "epoll_pwait2",
                                              "eventfd",
                                              "eventfd2",
                                              "inotify_init",
                                              "inotify_init1",
                                              "inotify_add_watch",
                                              "inotify_rm_watch"};
constexpr SyscallGroup waiting = {"waiting", "event loops", waiting_calls};

constexpr std::string_view look_calls[] = {
    "access",     "faccessat",  "faccessat2", "stat",      "lstat",      "fstat",     "newfstatat",
    "statx",      "statfs",     "fstatfs",    "readlink",  "readlinkat", "getcwd",    "chdir",
    "fchdir",     "getdents",   "getdents64", "getxattr",  "lgetxattr",  "fgetxattr", "listxattr",
    "llistxattr", "flistxattr", "readahead",  "fadvise64", "cachestat"};
constexpr SyscallGroup looking = {"looking at files", "mounts decide which files there are",
                                  look_calls};

constexpr std::string_view change_calls[] = {
    "truncate",    "ftruncate",    "fallocate",   "fsync",     "fdatasync", "sync_file_range",
    "flock",       "rename",       "renameat",    "renameat2", "link",      "linkat",
    "symlink",     "symlinkat",    "unlink",      "unlinkat",  "mkdir",     "mkdirat",
    "rmdir",       "chown",        "fchown",      "lchown",    "fchownat",  "utime",
    "utimes",      "utimensat",    "futimesat",   "setxattr",  "lsetxattr", "fsetxattr",
    "removexattr", "lremovexattr", "fremovexattr"};
constexpr SyscallGroup changing = {"changing files",
                                   "read-only mounts and the cell's own user id decide where",
                                   change_calls, argument_rules::file_modes};

constexpr std::string_view self_control_calls[] = {"landlock_create_ruleset", "landlock_add_rule",
                                                   "landlock_restrict_self"};
constexpr SyscallGroup self_control = {"self-control", "a process may only bind itself tighter",
                                       self_control_calls, argument_rules::self_control};

constexpr std::string_view socket_calls[] = {
    "bind",        "connect",     "listen",     "accept",     "accept4", "shutdown",
    "getsockname", "getpeername", "getsockopt", "setsockopt", "sendto",  "sendmsg",
    "sendmmsg",    "recvfrom",    "recvmsg",    "recvmmsg"};
constexpr SyscallGroup closed_sockets = {"routes, pairs and questions for names",
                                         "what node and asyncio start with; reaches nobody",
                                         socket_calls, argument_rules::closed_sockets};
constexpr SyscallGroup private_sockets = {"sockets",
                                          "the network namespace decides what they reach",
                                          socket_calls, argument_rules::private_sockets};
constexpr SyscallGroup closed_browser_sockets = {
    "Unix sockets, routes, pairs and questions for names",
    "a browser's processes find each other by Unix sockets", socket_calls,
    argument_rules::closed_browser_sockets};
constexpr SyscallGroup private_browser_sockets = {
    "sockets and Unix sockets", "the network namespace and the mounts decide what they reach",
    socket_calls, argument_rules::private_browser_sockets};
constexpr SyscallGroup host_sockets = {"sockets of the host",
                                       "a declared weakening: `network = \"host\"`", socket_calls,
                                       argument_rules::host_sockets};

constexpr std::string_view anonymous_file_calls[] = {"memfd_create"};
constexpr SyscallGroup anonymous_files = {
    "anonymous files",
    "the runtimes share buffers by them; a native server can do without, and "
    "then has no way to run a program that was never a file",
    anonymous_file_calls};

constexpr std::string_view code_protection_calls[] = {"pkey_alloc", "pkey_free", "pkey_mprotect",
                                                      "map_shadow_stack"};
constexpr SyscallGroup code_protection = {
    "code protection", "V8 guards its compiled code with protection keys", code_protection_calls};

constexpr std::string_view giving_up_calls[] = {"capset"};
constexpr SyscallGroup giving_up = {
    "giving up capabilities",
    "a browser's children give up what they have and end where they may not; a cell has none, and "
    "capset(2) adds none",
    giving_up_calls};

// --- the supervisor ------------------------------------------------------------------------------

// Resolvers of names of users ask daemons by Unix sockets, and the journal and the service manager
// take datagrams.
constexpr ArgumentRule own_socket_rules[] = {
    argument_rules::internet[0], argument_rules::internet[1],
    argument_rules::internet[2], argument_rules::internet[3],
    argument_rules::internet[4], argument_rules::internet[5],
    argument_rules::internet[6], argument_rules::internet[7],
    argument_rules::routes,      allow_when({argument_rules::family(AF_UNIX)})};
constexpr ArgumentRule own_pair_rules[] = {allow_when({argument_rules::family(AF_UNIX)})};
constexpr RuledCall own_socket_calls[] = {
    {"socket", "TCP, UDP, Unix sockets and routes", own_socket_rules, EAFNOSUPPORT},
    {"socketpair", "channels to children", own_pair_rules, EAFNOSUPPORT},
};
constexpr SyscallGroup own_sockets = {"sockets of the supervisor",
                                      "hosts, the service manager, the journal, names of users",
                                      socket_calls, own_socket_calls};

// A child of it makes the launcher's view of the host (launcher_process.h).
constexpr ArgumentRule enter_rules[] = {allow_when({argument_rules::equals(1, CLONE_NEWUSER)})};
constexpr ArgumentRule leave_rules[] = {allow_when({argument_rules::equals(0, CLONE_NEWNS)})};
constexpr RuledCall view_calls[] = {
    {"setns", "the launcher's user namespace", enter_rules, EPERM},
    {"unshare", "a copy of the mounts in it", leave_rules, EPERM},
};
constexpr std::string_view reading_calls[] = {"openat2", "capset"};
constexpr SyscallGroup reloading = {
    "reloading", "paths without links, and giving up what is not held; the view of the host",
    reading_calls, view_calls};

constexpr const SyscallGroup* supervisor_groups[] = {
    &programs,     &memory,      &processes,       &scheduling, &threads, &signals,
    &time,         &identity,    &descriptors,     &waiting,    &looking, &changing,
    &self_control, &own_sockets, &anonymous_files, &reloading};

// --- profiles ------------------------------------------------------------------------------------

template <const SyscallGroup&... more>
inline constexpr std::array groups_with = {
    &programs, &memory,      &processes, &scheduling, &threads,  &signals,      &time,
    &identity, &descriptors, &waiting,   &looking,    &changing, &self_control, &more...};

template <const SyscallGroup& sockets, const SyscallGroup& browser_sockets>
std::span<const SyscallGroup* const> groups_of(SyscallProfile profile) {
  switch (profile) {
    case SyscallProfile::native:
      return groups_with<sockets>;
    case SyscallProfile::node:
      return groups_with<sockets, anonymous_files, code_protection>;
    case SyscallProfile::python:
      return groups_with<sockets, anonymous_files>;
    case SyscallProfile::browser:
      return groups_with<browser_sockets, anonymous_files, code_protection, giving_up>;
  }
  return {};
}

std::span<const SyscallGroup* const> groups_of(SyscallProfile profile, NetworkMode network) {
  switch (network) {
    case NetworkMode::none:
      return groups_of<closed_sockets, closed_browser_sockets>(profile);
    case NetworkMode::loopback:
    case NetworkMode::egress:
      return groups_of<private_sockets, private_browser_sockets>(profile);
    case NetworkMode::host:
      return groups_of<host_sockets, host_sockets>(profile);
  }
  return {};
}

}  // namespace

SyscallPolicy syscall_policy(SyscallProfile profile, NetworkMode network) {
  return {
      .groups = groups_of(profile, network),
      .refused = profile == SyscallProfile::browser ? refused_calls_but_capset() : refused_calls(),
      .unlisted = UnlistedCall::not_implemented,
      .foreign = ForeignCall::notify,
      .reporting = Reporting::reported};
}

SyscallPolicy supervisor_syscall_policy() { return {.groups = supervisor_groups, .refused = {}}; }

}  // namespace cellblock
