#include "policy/syscalls/syscall_refusals.h"

#include <algorithm>
#include <cerrno>

namespace cellblock {
namespace {

constexpr std::string_view mount_calls[] = {
    "mount",      "umount",        "umount2",   "pivot_root", "chroot",
    "fsopen",     "fsconfig",      "fsmount",   "fspick",     "open_tree",
    "move_mount", "mount_setattr", "statmount", "listmount",  "open_tree_attr",
    "swapon",     "swapoff",       "quotactl",  "quotactl_fd"};
constexpr RefusedCalls mounts = {"mounts", "the cell's view of files is made by the launcher alone",
                                 EPERM, mount_calls};

constexpr std::string_view namespace_calls[] = {"unshare", "setns"};
constexpr RefusedCalls namespaces = {
    "namespaces", "a new user namespace would bring capabilities and the kernel behind them", EPERM,
    namespace_calls};

constexpr std::string_view tracing_calls[] = {
    "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "process_madvise"};
constexpr RefusedCalls tracing = {"tracing", "reading, steering or stalling another process", EPERM,
                                  tracing_calls, Pardon::admin};

constexpr std::string_view kernel_calls[] = {"userfaultfd",    "perf_event_open", "bpf",
                                             "lookup_dcookie", "fanotify_init",   "fanotify_mark",
                                             "uretprobe",      "uprobe"};
constexpr RefusedCalls kernel = {
    "kernel internals", "watches, programs or stalls the kernel itself: most exploits begin here",
    EPERM, kernel_calls};

constexpr std::string_view keyring_calls[] = {"keyctl", "add_key", "request_key"};
constexpr RefusedCalls keyrings = {"keyrings",
                                   "keys are shared by user id, across every namespace made here",
                                   EPERM, keyring_calls};

constexpr std::string_view machine_calls[] = {
    "reboot",        "kexec_load",    "kexec_file_load", "init_module", "finit_module",
    "delete_module", "acct",          "syslog",          "sethostname", "setdomainname",
    "settimeofday",  "clock_settime", "clock_adjtime",   "adjtimex",    "stime",
    "iopl",          "ioperm",        "modify_ldt",      "vhangup",     "nfsservctl",
    "ioprio_set"};
constexpr RefusedCalls machine = {"machine", "acts on the whole machine", EPERM, machine_calls};

constexpr std::string_view identity_calls[] = {"setuid",   "setgid",    "setreuid",
                                               "setregid", "setresuid", "setresgid",
                                               "setfsuid", "setfsgid",  "setgroups"};
constexpr RefusedCalls identity = {"identity", "a cell has one identity, and gives none away",
                                   EPERM, identity_calls, Pardon::admin};

constexpr std::string_view capability_calls[] = {"capset"};
constexpr RefusedCalls capability_changes = {"capabilities", "a cell has none to change", EPERM,
                                             capability_calls, Pardon::admin};

constexpr std::string_view priority_calls[] = {"sched_setscheduler", "sched_setparam",
                                               "sched_setattr", "mlockall"};
constexpr RefusedCalls priorities = {"priorities",
                                     "real-time classes and locked memory starve everybody else",
                                     EPERM, priority_calls, Pardon::admin};

// SECCOMP_RET_LOG writes a record for each call that a filter names, and no limit holds for it.
constexpr std::string_view filter_calls[] = {"seccomp"};
constexpr RefusedCalls filters = {"filters of its own",
                                  "a filter can flood the host's kernel log and audit trail", EPERM,
                                  filter_calls, Pardon::admin};

constexpr std::string_view handle_calls[] = {"open_by_handle_at", "name_to_handle_at"};
constexpr RefusedCalls handles = {"file handles", "names a file past every path that was fenced in",
                                  EPERM, handle_calls};

// Answered as if the kernel had never had them: the libraries that try these have another way, and
// take EPERM for a broken system instead (node aborts when clone3 says EPERM). glibc tries clone3
// for every thread.
constexpr std::string_view indirect_calls[] = {"clone3", "openat2"};
constexpr RefusedCalls indirect = {"arguments out of sight",
                                   "a filter cannot see flags behind a pointer",
                                   ENOSYS,
                                   indirect_calls,
                                   Pardon::nobody,
                                   Reporting::quiet};

constexpr std::string_view queue_calls[] = {"io_uring_setup", "io_uring_enter",
                                            "io_uring_register"};
constexpr RefusedCalls queues = {"io_uring", "a filter never sees the calls that are queued in it",
                                 ENOSYS, queue_calls};

constexpr std::string_view secret_memory_calls[] = {"memfd_secret"};
constexpr RefusedCalls secret_memory = {"secret memory",
                                        "memory that no limit of the cell can take back", ENOSYS,
                                        secret_memory_calls, Pardon::admin};

constexpr std::string_view system_v_calls[] = {"shmget", "shmat",  "shmdt",  "shmctl",
                                               "semget", "semop",  "semctl", "semtimedop",
                                               "msgget", "msgsnd", "msgrcv", "msgctl"};
constexpr RefusedCalls system_v = {"System V objects",
                                   "outlive their maker; nothing that runs here needs them", ENOSYS,
                                   system_v_calls, Pardon::admin};

constexpr const RefusedCalls* all_refused[] = {
    &mounts,   &namespaces, &tracing,       &kernel,   &keyrings,
    &machine,  &identity,   &priorities,    &filters,  &handles,
    &indirect, &queues,     &secret_memory, &system_v, &capability_changes};

struct Numbered {
  std::string_view name;
  int number;
};

constexpr Numbered recent_calls[] = {
    {"cachestat", 451},         {"fchmodat2", 452},        {"map_shadow_stack", 453},
    {"futex_wake", 454},        {"futex_wait", 455},       {"futex_requeue", 456},
    {"statmount", 457},         {"listmount", 458},        {"lsm_get_self_attr", 459},
    {"lsm_set_self_attr", 460}, {"lsm_list_modules", 461}, {"mseal", 462},
    {"setxattrat", 463},        {"getxattrat", 464},       {"listxattrat", 465},
    {"removexattrat", 466},     {"open_tree_attr", 467},   {"file_getattr", 468},
    {"file_setattr", 469},
#ifdef __x86_64__
    {"uretprobe", 335},         {"uprobe", 336},
#endif
};

}  // namespace

std::span<const RefusedCalls* const> refused_calls() { return all_refused; }

std::span<const RefusedCalls* const> refused_calls_but_capset() {
  return std::span(all_refused).first(std::size(all_refused) - 1);
}

std::optional<std::string_view> recent_call_name(int number) {
  const auto* found = std::ranges::find(recent_calls, number, &Numbered::number);
  if (found == std::end(recent_calls)) return std::nullopt;
  return found->name;
}

std::optional<int> recent_call_number(std::string_view name) {
  const auto* found = std::ranges::find(recent_calls, name, &Numbered::name);
  if (found == std::end(recent_calls)) return std::nullopt;
  return found->number;
}

}  // namespace cellblock
