#include "policy/syscalls/launcher_syscalls.h"

#include <linux/keyctl.h>

#include <algorithm>
#include <cerrno>

#include "policy/syscalls/syscall_arguments.h"

namespace cellblock {
namespace {

constexpr std::string_view kernel_internal_calls[] = {"bpf",
                                                      "perf_event_open",
                                                      "userfaultfd",
                                                      "uprobe",
                                                      "uretprobe",
                                                      "fanotify_init",
                                                      "fanotify_mark",
                                                      "lookup_dcookie",
                                                      "io_uring_setup",
                                                      "io_uring_enter",
                                                      "io_uring_register"};
constexpr RefusedCalls kernel_internals = {
    "kernel internals", "programs or watches the kernel itself", ENOSYS, kernel_internal_calls};

constexpr std::string_view whole_machine_calls[] = {
    "reboot",        "kexec_load",    "kexec_file_load", "init_module",   "finit_module",
    "delete_module", "acct",          "syslog",          "setdomainname", "settimeofday",
    "clock_settime", "clock_adjtime", "adjtimex",        "stime",         "iopl",
    "ioperm",        "modify_ldt",    "vhangup",         "nfsservctl",    "quotactl",
    "quotactl_fd",   "swapon",        "swapoff",         "ioprio_set",    "chroot"};
constexpr RefusedCalls whole_machine = {"machine", "acts on the whole machine, or on no cell",
                                        ENOSYS, whole_machine_calls};

// The launcher copies trees of the host, and makes tmpfs and proc by mount(2).
constexpr std::string_view file_system_calls[] = {
    "fsopen", "fsconfig", "fsmount", "fspick", "statmount", "listmount", "open_tree_attr"};
constexpr RefusedCalls file_systems = {
    "file systems", "parsers of file systems that nothing here mounts", ENOSYS, file_system_calls};

constexpr std::string_view handle_and_key_calls[] = {"open_by_handle_at", "name_to_handle_at",
                                                     "add_key", "request_key"};
constexpr RefusedCalls handles_and_keys = {
    "handles and keys", "names files and keys past every fence", ENOSYS, handle_and_key_calls};

// --- what an administrator may give a server -----------------------------------------------------

constexpr std::string_view steering_calls[] = {
    "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "process_madvise"};
constexpr RefusedCalls steering = {"tracing", "reading or steering another process", ENOSYS,
                                   steering_calls, Pardon::admin};

constexpr std::string_view unused_calls[] = {"sched_setscheduler",
                                             "sched_setparam",
                                             "sched_setattr",
                                             "mlockall",
                                             "memfd_secret",
                                             "shmget",
                                             "shmat",
                                             "shmdt",
                                             "shmctl",
                                             "semget",
                                             "semop",
                                             "semctl",
                                             "semtimedop",
                                             "msgget",
                                             "msgsnd",
                                             "msgrcv",
                                             "msgctl"};
constexpr RefusedCalls unused = {"not used", "nothing here makes them", ENOSYS, unused_calls,
                                 Pardon::admin};

constexpr const RefusedCalls* never[] = {&kernel_internals, &whole_machine, &file_systems,
                                         &handles_and_keys};
constexpr const RefusedCalls* unless_granted[] = {&steering, &unused};

// --- what is refused by its arguments ------------------------------------------------------------

using argument_rules::equals;
using argument_rules::internet;

// Netfilter, audit and the others that netlink leads to are as much of the kernel again.
constexpr ArgumentRule family_rules[] = {
    internet[0],
    internet[1],
    internet[2],
    internet[3],
    internet[4],
    internet[5],
    internet[6],
    internet[7],
    allow_when({equals(0, AF_UNIX)}),
    argument_rules::routes,
};

// Rules of iptables, arptables, ebtables and ip6tables, services of IPVS (from 1152 on) and
// policies of IPsec (IP_IPSEC_POLICY and IP_XFRM_POLICY, and the same two of IPv6). The kernel says
// EPERM to whoever has no right to them, and so to every server.
constexpr std::uint32_t block_of_128 = ~std::uint32_t{127};
constexpr std::uint32_t block_of_four = ~std::uint32_t{3};
constexpr std::uint32_t block_of_two = ~std::uint32_t{1};
constexpr ArgumentRule refuse_options(std::uint32_t level, std::uint32_t mask,
                                      std::uint32_t first) {
  ArgumentRule rule = refuse_when(EPERM, {equals(1, level), {2, mask, first}});
  rule.reporting = Reporting::quiet;
  return rule;
}
constexpr ArgumentRule netfilter_rules[] = {
    refuse_options(IPPROTO_IP, block_of_four, 64),  refuse_options(IPPROTO_IP, block_of_four, 96),
    refuse_options(IPPROTO_IP, block_of_four, 128), refuse_options(IPPROTO_IPV6, block_of_two, 64),
    refuse_options(IPPROTO_IP, block_of_128, 1152), refuse_options(IPPROTO_IP, block_of_two, 16),
    refuse_options(IPPROTO_IPV6, block_of_two, 34)};

constexpr ArgumentRule keyring_rules[] = {
    allow_when({equals(0, KEYCTL_JOIN_SESSION_KEYRING), equals(1, 0)})};

constexpr RuledCall ruled[] = {
    {"socket", "TCP, UDP, Unix sockets and routes", family_rules, ENOSYS},
    {"setsockopt", "all but tables of netfilter and IPVS, and policies of IPsec", netfilter_rules,
     0},
    {"keyctl", "a new session keyring, which each cell gets", keyring_rules, ENOSYS},
};
constexpr SyscallGroup by_arguments = {"by arguments", "what set-up needs, and no more", {}, ruled};
constexpr const SyscallGroup* groups[] = {&by_arguments};

bool may_be_granted(std::string_view call) {
  return std::ranges::any_of(unless_granted, [call](const RefusedCalls* refused) {
    return std::ranges::find(refused->calls, call) != refused->calls.end();
  });
}

void append(SyscallTable& table, const RefusedCalls& refused, const GrantedCalls& granted) {
  for (const std::string_view name : refused.calls) {
    if (granted.contains(name)) continue;
    table.calls.push_back(
        {std::string(name), refused.name, refused.reason, {}, refused.error, refused.reporting});
  }
}

}  // namespace

GrantedCalls granted_calls(const Config& config) {
  GrantedCalls granted;
  for (const Server& server : config.servers) {
    for (const std::string& call : server.syscalls.allow) {
      if (may_be_granted(call)) granted.insert(call);
    }
  }
  return granted;
}

SyscallTable launcher_syscall_table(const GrantedCalls& granted) {
  SyscallTable table = syscall_table(SyscallPolicy{.groups = groups,
                                                   .refused = never,
                                                   .unlisted = UnlistedCall::made,
                                                   .foreign = ForeignCall::notify,
                                                   .reporting = Reporting::reported});
  for (const RefusedCalls* refused : unless_granted) append(table, *refused, granted);
  return table;
}

}  // namespace cellblock
