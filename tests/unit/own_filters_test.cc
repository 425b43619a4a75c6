// The filters of the supervisor and the launcher, call by call, and the launcher's below those of
// cells.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <functional>

#include "policy/syscalls/launcher_syscalls.h"
#include "policy/syscalls/syscall_groups.h"
#include "policy/syscalls/syscall_rules.h"
#include "supervisor/seccomp/install_filter.h"
#include "tests/unit/filter_machine.h"
#include "tests/unit/filtered_child.h"

namespace cellblock {
namespace {

using testing_support::answer_under;
using testing_support::end_under;
using testing_support::ReadResult;

constexpr SyscallProfile all_profiles[] = {SyscallProfile::native, SyscallProfile::node,
                                           SyscallProfile::python, SyscallProfile::browser};
constexpr NetworkMode all_networks[] = {NetworkMode::none, NetworkMode::loopback,
                                        NetworkMode::egress, NetworkMode::host};

FilterProgram program_of(const SyscallTable& table) {
  auto program = compile_filter(table);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().text);
  return program.value_or(FilterProgram{});
}

FilterProgram launcher_filter(const GrantedCalls& granted = {}) {
  return program_of(launcher_syscall_table(granted));
}

FilterProgram supervisor_filter() { return program_of(syscall_table(supervisor_syscall_policy())); }

template <class Check>
void for_every_server(Check check) {
  for (const SyscallProfile profile : all_profiles) {
    for (const NetworkMode network : all_networks) check(SyscallRules{.base = profile}, network);
  }
}

struct Call {
  const char* what;
  std::function<long()> make;
  const char* answer;
};

Call bare_call(const char* what, long number, const char* answer) {
  return {what, [number] { return ::syscall(number, -1L, 0L, 0L, 0L, 0L, 0L); }, answer};
}

Call socket_call(const char* what, int family, int type, int protocol, const char* answer) {
  return {what, [=] { return ::socket(family, type, protocol); }, answer};
}

Call option_call(const char* what, int level, int option, const char* answer) {
  return {what, [=] { return ::syscall(SYS_setsockopt, -1, level, option, nullptr, 0); }, answer};
}

void expect_all(const FilterProgram& filter, const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    EXPECT_EQ(answer_under(filter, call.make, ReadResult::no), call.answer) << call.what;
  }
}

// --- the launcher --------------------------------------------------------------------------------

bool is_ever_made(const SyscallAnswer& answer) {
  return answer.otherwise == 0 || std::ranges::any_of(answer.rules, [](const ArgumentRule& rule) {
           return rule.error == 0;
         });
}

TEST(LauncherFilter, RefusesByNameNoCallThatAProfileGivesAServer) {
  const SyscallTable own = launcher_syscall_table({});
  for_every_server([&own](const SyscallRules& rules, NetworkMode network) {
    const auto table = syscall_table(rules, network);
    ASSERT_TRUE(table.has_value());
    for (const SyscallAnswer& refused : own.calls) {
      if (is_ever_made(refused)) continue;
      const SyscallAnswer* server = find_syscall(*table, refused.name);
      EXPECT_TRUE(server == nullptr || !is_ever_made(*server)) << refused.name;
    }
  });
}

TEST(LauncherFilter, RefusesOfWhatAnAdministratorMayAllowOnlyWhatNoServerIsAllowed) {
  const SyscallTable own = launcher_syscall_table({});
  for (const SyscallAnswer& refused : own.calls) {
    if (is_ever_made(refused) || !never_allowed_because(refused.name).empty()) continue;
    Config config;
    config.servers.emplace_back().syscalls.allow = {refused.name};
    const SyscallTable granting = launcher_syscall_table(granted_calls(config));
    EXPECT_EQ(find_syscall(granting, refused.name), nullptr) << refused.name;
    EXPECT_EQ(granting.calls.size() + 1, own.calls.size()) << refused.name;
  }
}

std::uint32_t socket_action(const FilterProgram& filter, int family, int type, int protocol) {
  return testing_support::action_of(
      filter, {.nr = SYS_socket,
               .arch = native_architecture,
               .instruction_pointer = 0,
               .args = {static_cast<std::uint64_t>(family), static_cast<std::uint64_t>(type),
                        static_cast<std::uint64_t>(protocol), 0, 0, 0}});
}

TEST(LauncherFilter, RefusesNoSocketThatAServerMayMake) {
  const FilterProgram own = launcher_filter();
  for_every_server([&own](const SyscallRules& rules, NetworkMode network) {
    const auto server = compile_filter(rules, network);
    ASSERT_TRUE(server.has_value());
    for (int family = 0; family < AF_MAX; ++family) {
      for (int type = 0; type < SOCK_PACKET + 1; ++type) {
        for (const int protocol : {0, 1, 6, 12, 17, 132, 262}) {
          if (socket_action(*server, family, type, protocol) != SECCOMP_RET_ALLOW) continue;
          EXPECT_EQ(socket_action(own, family, type, protocol), SECCOMP_RET_ALLOW)
              << family << " " << type << " " << protocol;
        }
      }
    }
  });
}

TEST(LauncherFilter, MakesNoCallThatProgramsTheKernelOrReachesOtherProcesses) {
  expect_all(launcher_filter(), {bare_call("bpf", SYS_bpf, "ENOSYS"),
                                 bare_call("perf_event_open", SYS_perf_event_open, "ENOSYS"),
                                 bare_call("userfaultfd", SYS_userfaultfd, "ENOSYS"),
                                 bare_call("io_uring_setup", SYS_io_uring_setup, "ENOSYS"),
                                 bare_call("io_uring_enter", SYS_io_uring_enter, "ENOSYS"),
                                 bare_call("io_uring_register", SYS_io_uring_register, "ENOSYS"),
                                 bare_call("ptrace", SYS_ptrace, "ENOSYS"),
                                 bare_call("process_vm_readv", SYS_process_vm_readv, "ENOSYS"),
                                 bare_call("process_vm_writev", SYS_process_vm_writev, "ENOSYS"),
                                 bare_call("pidfd_getfd", SYS_pidfd_getfd, "ENOSYS"),
                                 bare_call("add_key", SYS_add_key, "ENOSYS"),
                                 bare_call("request_key", SYS_request_key, "ENOSYS"),
                                 bare_call("init_module", SYS_init_module, "ENOSYS"),
                                 bare_call("finit_module", SYS_finit_module, "ENOSYS"),
                                 bare_call("delete_module", SYS_delete_module, "ENOSYS"),
                                 bare_call("kexec_load", SYS_kexec_load, "ENOSYS"),
                                 bare_call("quotactl", SYS_quotactl, "ENOSYS"),
                                 bare_call("acct", SYS_acct, "ENOSYS"),
                                 bare_call("swapon", SYS_swapon, "ENOSYS"),
                                 bare_call("reboot", SYS_reboot, "ENOSYS"),
                                 bare_call("clock_settime", SYS_clock_settime, "ENOSYS"),
                                 bare_call("adjtimex", SYS_adjtimex, "ENOSYS"),
                                 bare_call("open_by_handle_at", SYS_open_by_handle_at, "ENOSYS"),
                                 bare_call("fsopen", SYS_fsopen, "ENOSYS"),
                                 bare_call("chroot", SYS_chroot, "ENOSYS"),
                                 bare_call("shmget", SYS_shmget, "ENOSYS")});
}

TEST(LauncherFilter, LeavesASessionKeyringOfAllThatKeyctlDoes) {
  const auto keyctl = [](long operation, long name) {
    return [=] { return ::syscall(SYS_keyctl, operation, name, 0, 0, 0); };
  };
  expect_all(launcher_filter(),
             {{"a nameless keyring", keyctl(KEYCTL_JOIN_SESSION_KEYRING, 0), "allowed"},
              {"a named one", keyctl(KEYCTL_JOIN_SESSION_KEYRING, 1), "ENOSYS"},
              {"reading", keyctl(KEYCTL_READ, 0), "ENOSYS"},
              {"describing", keyctl(KEYCTL_DESCRIBE, 0), "ENOSYS"}});
}

TEST(LauncherFilter, MakesOnlySocketsOfTheInternetUnixAndRoutes) {
  expect_all(launcher_filter(),
             {socket_call("tcp", AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0, "allowed"),
              socket_call("udp", AF_INET6, SOCK_DGRAM, 0, "allowed"),
              socket_call("unix", AF_UNIX, SOCK_DGRAM, 0, "allowed"),
              socket_call("routes", AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, "allowed"),
              socket_call("netfilter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER, "ENOSYS"),
              socket_call("audit", AF_NETLINK, SOCK_RAW, NETLINK_AUDIT, "ENOSYS"),
              socket_call("ipsec", AF_NETLINK, SOCK_RAW, NETLINK_XFRM, "ENOSYS"),
              socket_call("mptcp", AF_INET, SOCK_STREAM, 262, "ENOSYS"),
              socket_call("raw", AF_INET, SOCK_RAW, IPPROTO_RAW, "ENOSYS"),
              socket_call("packet", AF_PACKET, SOCK_RAW, 0, "ENOSYS"),
              socket_call("vsock", AF_VSOCK, SOCK_STREAM, 0, "ENOSYS"),
              socket_call("crypto", AF_ALG, SOCK_SEQPACKET, 0, "ENOSYS")});
}

TEST(LauncherFilter, SetsNoTableOfNetfilterNoPolicyOfIpsecAndEveryOtherOption) {
  expect_all(launcher_filter(), {option_call("iptables", IPPROTO_IP, 64, "EPERM"),
                                 option_call("IPsec", IPPROTO_IP, 16, "EPERM"),
                                 option_call("its other form", IPPROTO_IP, 17, "EPERM"),
                                 option_call("IPsec of IPv6", IPPROTO_IPV6, 34, "EPERM"),
                                 option_call("its other form", IPPROTO_IPV6, 35, "EPERM"),
                                 option_call("services of IPVS", IPPROTO_IP, 1154, "EPERM"),
                                 option_call("multicast", IPPROTO_IP, 35, "EBADF"),
                                 option_call("the source", IPPROTO_IP, 15, "EBADF"),
                                 option_call("counters of iptables", IPPROTO_IP, 65, "EPERM"),
                                 option_call("arptables", IPPROTO_IP, 96, "EPERM"),
                                 option_call("ebtables", IPPROTO_IP, 128, "EPERM"),
                                 option_call("ip6tables", IPPROTO_IPV6, 64, "EPERM"),
                                 option_call("the traffic class", IPPROTO_IPV6, 67, "EBADF"),
                                 option_call("only IPv6", IPPROTO_IPV6, 26, "EBADF"),
                                 option_call("the type of service", IPPROTO_IP, 1, "EBADF"),
                                 option_call("a socket's own", SOL_SOCKET, 64, "EBADF")});
}

TEST(LauncherFilter, LeavesWhatTheSetUpOfACellMakes) {
  expect_all(
      launcher_filter(),
      {bare_call("mount_setattr", SYS_mount_setattr, "EINVAL"),
       bare_call("open_tree", SYS_open_tree, "EFAULT"), bare_call("setns", SYS_setns, "EBADF"),
       bare_call("seccomp", SYS_seccomp, "EINVAL"),
       bare_call("landlock", SYS_landlock_restrict_self, "EBADF"),
       bare_call("clone3", SYS_clone3, "EINVAL"), bare_call("openat2", SYS_openat2, "EINVAL")});
}

#ifdef __x86_64__
TEST(LauncherFilter, MakesNoX32Call) {
  expect_all(launcher_filter(),
             {{"getpid", [] { return ::syscall(0x4000'0000 + SYS_getpid); }, "ENOSYS"}});
}
#endif

// --- the launcher's below a server's -------------------------------------------------------------

/// Under both, with somebody who answers for the server's.
testing_support::Ending ending_below(const FilterProgram& own, const FilterProgram& server,
                                     const std::function<long()>& call) {
  auto sockets = make_seqpacket_pair();
  if (!sockets) return {"no socket pair", 0};
  const pid_t child = ::fork();
  if (child == 0) {
    if (testing_support::load_filter(own, 0) < 0) ::_exit(testing_support::could_not_load);
    testing_support::load_heard(server, sockets->second.get());
    ::_exit(call() < 0 ? errno : 0);
  }
  sockets->second.reset();
  char byte = 0;
  auto received = receive_record(sockets->first.get(), byte);
  if (!received || received->fds.size() != 1) return {testing_support::end_of(child), -1};
  const int reported = testing_support::answer_all(received->fds[0].get(), server);
  return {testing_support::end_of(child), reported};
}

TEST(LauncherFilter, LeavesToAServersFilterWhatTheServerIsTold) {
  const FilterProgram own = launcher_filter();
  const auto server = compile_filter(SyscallRules{}, NetworkMode::none);
  ASSERT_TRUE(server.has_value());
  const std::vector<Call> calls = {
      bare_call("bpf", SYS_bpf, ""),
      bare_call("io_uring_setup", SYS_io_uring_setup, ""),
      bare_call("ptrace", SYS_ptrace, ""),
      bare_call("keyctl", SYS_keyctl, ""),
      bare_call("reboot", SYS_reboot, ""),
      bare_call("fsopen", SYS_fsopen, ""),
      bare_call("clone3", SYS_clone3, ""),
      bare_call("mount", SYS_mount, ""),
      socket_call("vsock", AF_VSOCK, SOCK_STREAM, 0, ""),
      socket_call("netfilter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER, ""),
      socket_call("tcp", AF_INET, SOCK_STREAM, 0, ""),
      socket_call("routes", AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, ""),
  };
  for (const Call& call : calls) {
    const auto alone =
        testing_support::ending_heard(*server, [&call] { return call.make() < 0 ? errno : 0; });
    const auto below = ending_below(own, *server, call.make);
    EXPECT_EQ(below.how, alone.how) << call.what;
    EXPECT_EQ(below.reported, alone.reported) << call.what;
  }
}

TEST(LauncherFilter, KeepsWhatAServersFilterWouldLetThrough) {
  const auto server = compile_filter(
      SyscallRules{.base = SyscallProfile::native, .name = "tracing", .allow = {"ptrace"}},
      NetworkMode::none);
  ASSERT_TRUE(server.has_value());
  const auto trace = [] { return ::syscall(SYS_ptrace, -1L, 0L, 0L, 0L); };
  EXPECT_EQ(ending_below(launcher_filter(), *server, trace).how, "exit " + std::to_string(ENOSYS));
  EXPECT_NE(ending_below(launcher_filter({"ptrace"}), *server, trace).how,
            "exit " + std::to_string(ENOSYS));
}

// --- what a listener can let through -------------------------------------------------------------

/// How a child ends that makes this call under `own` and a newer filter, whose listener has every
/// call continued.
std::string answer_continued(const FilterProgram& own, const FilterProgram& newer,
                             const std::function<long()>& call) {
  auto sockets = make_seqpacket_pair();
  if (!sockets) return "no socket pair";
  const pid_t child = ::fork();
  if (child == 0) {
    if (testing_support::load_filter(own, 0) < 0) ::_exit(testing_support::could_not_load);
    testing_support::load_heard(newer, sockets->second.get());
    ::_exit(call() < 0 ? errno : 0);
  }
  sockets->second.reset();
  char byte = 0;
  auto received = receive_record(sockets->first.get(), byte);
  if (!received || received->fds.size() != 1) return testing_support::end_of(child);
  const int listener = received->fds[0].get();
  pollfd waiting{listener, POLLIN, 0};
  seccomp_notif asked{};
  if (::poll(&waiting, 1, -1) == 1 && (waiting.revents & POLLIN) != 0 &&
      ::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) == 0) {
    seccomp_notif_resp answer{};
    answer.id = asked.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
  return testing_support::end_of(child);
}

FilterProgram notifying_of(long number) {
  FilterProgram program;
  program.instructions = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  return program;
}

// A limit (docs/decisions/0085): the newer of two notifications wins, so who may install a filter
// with a listener has what the older refuses without an answer.
TEST(LauncherFilter, DoesNotHoldBackWhoHasTheCallContinuedByAListenerOfItsOwn) {
  const auto call = [] { return ::syscall(SYS_userfaultfd, -1L); };
  EXPECT_EQ(answer_continued(launcher_filter(), notifying_of(SYS_userfaultfd), call),
            "exit " + std::to_string(EINVAL));
}

TEST(LauncherFilter, HoldsWhatItAnswersWithAnErrnoAgainstEveryListener) {
  const auto call = [] { return ::syscall(SYS_setsockopt, -1, IPPROTO_IP, 64, nullptr, 0); };
  EXPECT_EQ(answer_continued(launcher_filter(), notifying_of(SYS_setsockopt), call),
            "exit " + std::to_string(EPERM));
}

TEST(SupervisorFilter, InstallsNoFurtherFilter) {
  const sock_filter step = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program{1, const_cast<sock_filter*>(&step)};
  expect_all(
      supervisor_filter(),
      {{"seccomp",
        [&program] {
          return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                           &program);
        },
        "ENOSYS"},
       {"prctl", [&program] { return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program); },
        "EINVAL"}});
}

// --- the supervisor ------------------------------------------------------------------------------

TEST(SupervisorFilter, MakesNoCallThatTakesAPrivilegeOrReachesOtherProcesses) {
  expect_all(supervisor_filter(), {bare_call("mount", SYS_mount, "ENOSYS"),
                                   bare_call("umount2", SYS_umount2, "ENOSYS"),
                                   bare_call("pivot_root", SYS_pivot_root, "ENOSYS"),
                                   bare_call("chroot", SYS_chroot, "ENOSYS"),
                                   bare_call("open_tree", SYS_open_tree, "ENOSYS"),
                                   bare_call("move_mount", SYS_move_mount, "ENOSYS"),
                                   bare_call("mount_setattr", SYS_mount_setattr, "ENOSYS"),
                                   bare_call("fsopen", SYS_fsopen, "ENOSYS"),
                                   bare_call("setresuid", SYS_setresuid, "ENOSYS"),
                                   bare_call("setgroups", SYS_setgroups, "ENOSYS"),
                                   bare_call("ptrace", SYS_ptrace, "ENOSYS"),
                                   bare_call("process_vm_readv", SYS_process_vm_readv, "ENOSYS"),
                                   bare_call("pidfd_getfd", SYS_pidfd_getfd, "ENOSYS"),
                                   bare_call("bpf", SYS_bpf, "ENOSYS"),
                                   bare_call("perf_event_open", SYS_perf_event_open, "ENOSYS"),
                                   bare_call("userfaultfd", SYS_userfaultfd, "ENOSYS"),
                                   bare_call("io_uring_setup", SYS_io_uring_setup, "ENOSYS"),
                                   bare_call("keyctl", SYS_keyctl, "ENOSYS"),
                                   bare_call("init_module", SYS_init_module, "ENOSYS"),
                                   bare_call("kexec_load", SYS_kexec_load, "ENOSYS"),
                                   bare_call("clock_settime", SYS_clock_settime, "ENOSYS"),
                                   bare_call("sethostname", SYS_sethostname, "ENOSYS"),
                                   bare_call("seccomp", SYS_seccomp, "ENOSYS"),
                                   bare_call("clone3", SYS_clone3, "ENOSYS"),
                                   bare_call("open_by_handle_at", SYS_open_by_handle_at, "ENOSYS"),
                                   {"another personality",
                                    [] { return ::syscall(SYS_personality, 0x0040000); }, "EPERM"},
                                   bare_call("a call of the future", 2000, "ENOSYS")});
}

TEST(SupervisorFilter, EntersAUserNamespaceAndCopiesMountsAndMakesNoOtherNamespace) {
  const auto setns = [](int type) { return [type] { return ::setns(-1, type); }; };
  const auto unshare = [](int flags) { return [flags] { return ::unshare(flags); }; };
  const auto clone = [](unsigned long flags) {
    return [flags] { return ::syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0); };
  };
  expect_all(supervisor_filter(), {{"a user namespace", setns(CLONE_NEWUSER), "EBADF"},
                                   {"any namespace", setns(0), "EPERM"},
                                   {"a mount namespace", setns(CLONE_NEWNS), "EPERM"},
                                   {"a new user namespace", unshare(CLONE_NEWUSER), "EPERM"},
                                   {"both at once", unshare(CLONE_NEWUSER | CLONE_NEWNS), "EPERM"},
                                   {"a new network", unshare(CLONE_NEWNET), "EPERM"},
                                   {"a child in a user namespace", clone(CLONE_NEWUSER), "EPERM"}});
}

TEST(SupervisorFilter, MakesSocketsForHostsTheJournalAndNamesOfUsers) {
  expect_all(supervisor_filter(),
             {socket_call("unix", AF_UNIX, SOCK_SEQPACKET, 0, "allowed"),
              socket_call("the journal", AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, "allowed"),
              socket_call("tcp", AF_INET, SOCK_STREAM, 0, "allowed"),
              socket_call("netfilter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER, "EAFNOSUPPORT"),
              socket_call("packet", AF_PACKET, SOCK_RAW, 0, "EAFNOSUPPORT"),
              socket_call("vsock", AF_VSOCK, SOCK_STREAM, 0, "EAFNOSUPPORT")});
}

std::string end_of_command(const FilterProgram& filter, std::vector<const char*> arguments) {
  arguments.push_back(nullptr);
  return end_under(
      filter,
      [&arguments] {
        ::execv(arguments[0], const_cast<char* const*>(arguments.data()));
        return 127;
      },
      ReadResult::no);
}

TEST(SupervisorFilter, RunsWhatPrintsSecrets) {
  const FilterProgram filter = supervisor_filter();
  EXPECT_EQ(end_of_command(filter, {"/bin/sh", "-c", "cat /etc/passwd | sort | grep -q root"}),
            "exit 0");
  EXPECT_EQ(end_of_command(filter, {"/bin/sh", "-c", "id -un 0 >/dev/null"}), "exit 0");
}

// --- installing ----------------------------------------------------------------------------------

/// What install_filter says in a child that has given up root; "installed" if nothing.
std::string installed_by_nobody(bool with_no_new_privs) {
  auto pipe = make_pipe();
  if (!pipe) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) ::_exit(2);
    if (with_no_new_privs && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ::_exit(3);
    const auto installed = install_filter(launcher_filter());
    const std::string said = installed ? "installed" : installed.error().text();
    ::_exit(write_all(pipe->second.get(), said) ? 0 : 4);
  }
  pipe->second.reset();
  EXPECT_EQ(testing_support::end_of(child), "exit 0");
  std::array<char, 256> said{};
  const ssize_t count = ::read(pipe->first.get(), said.data(), said.size());
  return {said.data(), count < 0 ? 0 : static_cast<std::size_t>(count)};
}

TEST(InstallFilter, HoldsFromThenOn) { EXPECT_EQ(installed_by_nobody(true), "installed"); }

TEST(InstallFilter, SaysWhichStepFailedAndWhy) {
  EXPECT_EQ(installed_by_nobody(false), "seccomp: Permission denied");
}

}  // namespace
}  // namespace cellblock
