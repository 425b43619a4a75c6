#include "policy/syscalls/internal_syscalls.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <sys/socket.h>

#include <cerrno>

namespace cellblock {
namespace {

// --- gateway and audit writer: dynamic C++ programs, filtered before exec ------------------------

// The program is handed over open, so execve itself is not needed. This does not keep a gateway
// that was taken over from executing something by an absolute path in its own root, which a filter
// cannot see; but there is no fork, the filter stays, and nothing there can do more than the code
// that called it.
constexpr ArgumentRule execveat_rules[] = {allow_when({{4, 0xffff'ffff, AT_EMPTY_PATH}})};
// Its guardian and, rootless, the user's other processes have its uid as well.
constexpr ArgumentRule own_limit_rules[] = {allow_when({{0, 0xffff'ffff, 0}})};
constexpr RuledCall start_rules[] = {
    {"execveat", "the program itself, by its descriptor", execveat_rules, EPERM},
    {"prlimit64", "its own limits", own_limit_rules, EPERM}};
constexpr std::string_view start_calls[] = {"arch_prctl",      "brk",       "exit",
                                            "exit_group",      "getrandom", "set_tid_address",
                                            "set_robust_list", "rseq",      "restart_syscall",
                                            "uname",           "sysinfo",   "sched_getaffinity"};
constexpr SyscallGroup start = {"start", "what the loader and the C library do before main",
                                start_calls, start_rules};

constexpr std::uint32_t changes_a_file = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
constexpr ArgumentRule openat_rules[] = {allow_when({{2, changes_a_file, O_RDONLY}})};
constexpr RuledCall load_rules[] = {
    {"openat", "shared libraries and locale data, to read", openat_rules, EACCES}};
constexpr std::string_view load_calls[] = {"stat",     "fstat",      "newfstatat", "statx",
                                           "access",   "faccessat",  "faccessat2", "pread64",
                                           "readlink", "readlinkat", "getcwd",     "lseek"};
constexpr SyscallGroup loading = {"loading", "reading what the program consists of", load_calls,
                                  load_rules};

// The gateway has one directory of its own (the mount namespace and Landlock see to that). A rule
// cannot see where a file is, but that it is a new one: nothing that is there can be opened to be
// written to.
constexpr std::uint32_t new_file = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
constexpr ArgumentRule cache_openat_rules[] = {
    allow_when({{2, changes_a_file, O_RDONLY}}),
    allow_when({{2, changes_a_file | O_EXCL | O_NOFOLLOW, new_file}})};
constexpr ArgumentRule unlink_rules[] = {allow_when({{2, 0xffff'ffff, 0}})};
constexpr RuledCall cache_rules[] = {
    {"openat", "shared libraries and its cache, to read; new files of its cache",
     cache_openat_rules, EACCES},
    {"unlinkat", "files of its cache, no directories", unlink_rules, EPERM}};
constexpr SyscallGroup caching = {"caching", "loading, and the files of its own directory",
                                  load_calls, cache_rules};
constexpr std::string_view replace_calls[] = {"renameat", "renameat2", "fsync"};
constexpr SyscallGroup replacing = {"replacing", "a file of its cache by a newer one",
                                    replace_calls};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr SyscallGroup listing = {"listing", "nothing: `sanitizer` has it", {}};
#else
constexpr std::string_view list_calls[] = {"getdents64"};
constexpr SyscallGroup listing = {"listing", "what is in its cache", list_calls};
#endif

constexpr std::string_view memory_calls[] = {"mmap",     "munmap",  "mremap",
                                             "mprotect", "madvise", "futex"};
constexpr SyscallGroup memory = {"memory", "its own", memory_calls};

constexpr std::string_view signal_calls[] = {
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "signalfd4", "tgkill",
    "getpid",       "gettid",         "getuid",       "geteuid",     "getgid",    "getegid"};
constexpr SyscallGroup signals = {"signals", "receiving them, and abort()", signal_calls};

constexpr std::string_view clock_calls[] = {"clock_gettime",  "clock_getres",    "gettimeofday",
                                            "timerfd_create", "timerfd_settime", "timerfd_gettime"};
constexpr SyscallGroup clocks = {"clocks", "deadlines", clock_calls};

// accept, connect and socket are missing on purpose: every socket comes through another socket. So
// are sendmsg (but for what `handover` adds) and sendmmsg: a descriptor attached to a record would
// be closed by its receiver, and closing one can be made to take as long as the sender likes (a
// lingering TCP socket).
constexpr std::string_view transfer_calls[] = {
    "read",        "write",       "readv",       "writev",   "preadv2",    "pwritev2",
    "recvmsg",     "recvfrom",    "sendto",      "shutdown", "getsockopt", "setsockopt",
    "getsockname", "getpeername", "dup",         "poll",     "ppoll",      "epoll_create1",
    "epoll_ctl",   "epoll_wait",  "epoll_pwait", "eventfd2", "pipe2"};
constexpr SyscallGroup transfer = {"transfer", "moving bytes between the descriptors it was handed",
                                   transfer_calls};

constexpr std::string_view release_calls[] = {"close", "ioctl"};
constexpr SyscallGroup releasing = {"releasing", "descriptors it is done with", release_calls};

// fstatfs tells an anonymous pipe, which can be read without blocking, from a named one. fcntl is
// not for the audit writer: F_SETFL could take O_APPEND off its log.
constexpr std::string_view kind_calls[] = {"fstatfs"};

// The gateway passes a host's workspace on, and only the launcher may be handed a descriptor: it
// knows what to do with one that is not what it should be. A rule sees a number, not what is behind
// it, so the number must mean the launcher's channel for good: it is neither closed nor marked to
// be closed by an exec (fcntl, FIOCLEX), and nothing here can put another descriptor over it
// (dup2).
constexpr ArgumentTest launcher_channel = {0, 0xffff'ffff, gateway_launcher_descriptor};
constexpr ArgumentRule send_rules[] = {allow_when({launcher_channel})};
constexpr ArgumentRule keep_rules[] = {refuse_when(EPERM, {launcher_channel}),
                                       allow_when({{0, 0, 0}})};
constexpr RuledCall handover_rules[] = {
    {"sendmsg", "a workspace, to the launcher", send_rules, EPERM},
    {"close", "all but the launcher's channel", keep_rules, EPERM},
    {"ioctl", "likewise: FIOCLEX", keep_rules, EPERM},
    {"fcntl", "likewise: F_SETFD; else descriptors that must not block", keep_rules, EPERM}};
constexpr SyscallGroup handover = {"handover", "descriptors go to the launcher alone", kind_calls,
                                   handover_rules};

constexpr std::string_view append_calls[] = {"fsync", "fdatasync", "pwrite64"};
constexpr SyscallGroup appending = {"appending", "the log reaches the disk before it counts",
                                    append_calls};

// --- egress helper: the one that makes sockets of its own, in the host's network -----------------

constexpr std::uint32_t tcp = 6;   // IPPROTO_TCP
constexpr std::uint32_t udp = 17;  // IPPROTO_UDP

// The protocol counts: 262 is MPTCP, and a datagram socket of ICMP is a ping.
constexpr ArgumentRule makes(std::uint32_t family, std::uint32_t type, std::uint32_t protocol) {
  constexpr std::uint32_t type_bits = 0xf;  // without SOCK_CLOEXEC and SOCK_NONBLOCK
  return allow_when({{0, 0xffff'ffff, family}, {1, type_bits, type}, {2, 0xffff'ffff, protocol}});
}
constexpr ArgumentRule internet_rules[] = {
    makes(AF_INET, SOCK_STREAM, 0),  makes(AF_INET, SOCK_STREAM, tcp),
    makes(AF_INET6, SOCK_STREAM, 0), makes(AF_INET6, SOCK_STREAM, tcp),
    makes(AF_INET, SOCK_DGRAM, 0),   makes(AF_INET, SOCK_DGRAM, udp),
    makes(AF_INET6, SOCK_DGRAM, 0),  makes(AF_INET6, SOCK_DGRAM, udp)};
constexpr RuledCall dialling_rules[] = {
    {"socket", "TCP to what is allowed, TCP and UDP to the resolver", internet_rules, EACCES}};
// bind and listen are missing: it serves the sockets it was handed, and no others.
constexpr std::string_view dialling_calls[] = {"accept4", "connect", "fcntl"};
constexpr SyscallGroup dialling = {"dialling", "connections in for connections out", dialling_calls,
                                   dialling_rules};

// Of cellblock-http: it accepts from the one listening socket that it was handed, which the next
// helper is handed too. So that one that was taken over leaves it as it was, nothing here ends the
// socket, changes it, or gets another number for it (dup, F_DUPFD).
constexpr ArgumentRule shutdown_rules[] = {
    refuse_when(EPERM, {{0, 0xffff'ffff, http_listener_descriptor}}), allow_when({{0, 0, 0}})};
constexpr std::uint32_t tcp_options = 6;  // SOL_TCP
constexpr std::uint32_t no_delay = 1;     // TCP_NODELAY
constexpr ArgumentRule option_rules[] = {
    allow_when({{1, 0xffff'ffff, tcp_options}, {2, 0xffff'ffff, no_delay}})};
constexpr ArgumentRule fcntl_rules[] = {allow_when({{1, 0xffff'ffff, F_GET_SEALS}}),
                                        allow_when({{1, 0xffff'ffff, F_GETFL}}),
                                        allow_when({{1, 0xffff'ffff, F_GETFD}})};
constexpr RuledCall serving_rules[] = {
    {"shutdown", "all but the listening socket", shutdown_rules, EPERM},
    {"setsockopt", "TCP_NODELAY", option_rules, EPERM},
    {"fcntl", "looking at descriptors", fcntl_rules, EPERM}};
constexpr std::string_view serving_calls[] = {
    "accept4", "read",          "write",     "readv",      "writev",      "preadv2",     "pwritev2",
    "recvmsg", "recvfrom",      "sendto",    "getsockopt", "getsockname", "getpeername", "poll",
    "ppoll",   "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd2",    "pipe2"};
constexpr SyscallGroup serving = {"serving", "connections of hosts", serving_calls, serving_rules};

// For itself: whoever looks into a helper sees what all of a user's messages or a cell's
// connections carry.
constexpr ArgumentRule undumpable_rules[] = {
    allow_when({{0, 0xffff'ffff, PR_SET_DUMPABLE}, {1, 0xffff'ffff, 0}})};
constexpr RuledCall hiding_rules[] = {{"prctl", "PR_SET_DUMPABLE to 0", undumpable_rules, EPERM}};
[[maybe_unused]] constexpr SyscallGroup hiding = {
    "hiding", "from the user's other processes", {}, hiding_rules};

// --- what only a build with sanitizers does ------------------------------------------------------

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint32_t thread_flags = CLONE_VM | CLONE_THREAD;
constexpr ArgumentRule clone_rules[] = {
    allow_when({{0, 0x7e02'0000 | thread_flags, thread_flags}})};
constexpr ArgumentRule prctl_rules[] = {
    allow_when({{0, 0xffff'ffff, PR_SET_NAME}}), allow_when({{0, 0xffff'ffff, PR_GET_DUMPABLE}}),
    allow_when({{0, 0xffff'ffff, PR_SET_DUMPABLE}}), allow_when({{0, 0xffff'ffff, 0x5356'4d41}})};
constexpr RuledCall sanitizer_rules[] = {
    {"clone", "the sanitizer's own thread", clone_rules, EPERM},
    {"prctl", "names of threads and mappings", prctl_rules, EINVAL}};
constexpr std::string_view sanitizer_calls[] = {"personality", "getrusage",       "sched_yield",
                                                "nanosleep",   "clock_nanosleep", "getppid",
                                                "setrlimit",   "getdents64",      "mincore"};
constexpr SyscallGroup sanitizer = {"sanitizer", "shadow memory and reports", sanitizer_calls,
                                    sanitizer_rules};
constexpr std::string_view sanitized_init_calls[] = {"sigaltstack"};
constexpr SyscallGroup sanitized_init = {"sanitized init", "asked about before every _exit",
                                         sanitized_init_calls};
#else
constexpr SyscallGroup sanitizer = {"sanitizer", "nothing: this build has none", {}};
constexpr SyscallGroup sanitized_init = sanitizer;
#endif

// --- init ----------------------------------------------------------------------------------------

constexpr std::string_view init_calls[] = {
    "wait4",        "exit_group", "write",           "close",          "kill",
    "rt_sigreturn", "exit",       "rt_sigtimedwait", "restart_syscall"};
constexpr SyscallGroup reaping = {"reaping", "waits, forwards a signal, reports how it ended",
                                  init_calls};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Their prctl rules contain those of `hiding`, and a call has one list of rules.
constexpr const SyscallGroup& hiding_prctl = sanitizer;
#else
constexpr const SyscallGroup& hiding_prctl = hiding;
#endif
constexpr const SyscallGroup* gateway_groups[] = {&start,    &caching,     &replacing, &listing,
                                                  &memory,   &signals,     &clocks,    &transfer,
                                                  &handover, &hiding_prctl};
constexpr const SyscallGroup* audit_groups[] = {
    &start, &loading, &memory, &signals, &clocks, &transfer, &releasing, &appending, &hiding_prctl};
constexpr const SyscallGroup* egress_groups[] = {
    &start, &loading, &memory, &signals, &clocks, &transfer, &releasing, &dialling, &hiding_prctl};
constexpr const SyscallGroup* http_groups[] = {&start,  &loading,   &memory,  &signals,
                                               &clocks, &releasing, &serving, &hiding_prctl};
constexpr const SyscallGroup* init_groups[] = {&reaping, &sanitized_init};

}  // namespace

SyscallPolicy syscall_policy(InternalProfile profile) {
  switch (profile) {
    case InternalProfile::gateway:
      return {.groups = gateway_groups, .refused = {}};
    case InternalProfile::audit_writer:
      return {.groups = audit_groups, .refused = {}};
    case InternalProfile::egress:
      return {.groups = egress_groups, .refused = {}};
    case InternalProfile::http:
      return {.groups = http_groups, .refused = {}};
    case InternalProfile::init:
      break;
  }
  return {.groups = init_groups, .refused = {}, .unlisted = UnlistedCall::kill_process};
}

}  // namespace cellblock
