#include "supervisor/seccomp/seccomp_filter.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "supervisor/os/sys.h"
#include "tests/unit/filtered_child.h"

namespace cellblock::launcher {
namespace {

using testing_support::answer_under;
using testing_support::end_of;
using testing_support::end_under;
using testing_support::ReadResult;

FilterProgram filter_for(SyscallProfile profile, NetworkMode network = NetworkMode::none) {
  auto filter = compile_filter(SyscallRules{.base = profile}, network);
  EXPECT_TRUE(filter.has_value()) << (filter ? "" : filter.error().text);
  return filter.value_or(FilterProgram{});
}

FilterProgram filter_for(const SyscallRules& rules) {
  auto filter = compile_filter(rules, NetworkMode::none);
  EXPECT_TRUE(filter.has_value()) << (filter ? "" : filter.error().text);
  return filter.value_or(FilterProgram{});
}

FilterProgram filter_for(InternalProfile profile) {
  auto filter = compile_filter(profile);
  EXPECT_TRUE(filter.has_value()) << (filter ? "" : filter.error().text);
  return filter.value_or(FilterProgram{});
}

struct Attempt {
  const char* what;
  std::function<long()> call;
  const char* answer;
};

void expect_answers(const FilterProgram& filter, const std::vector<Attempt>& attempts) {
  for (const Attempt& attempt : attempts) {
    EXPECT_EQ(answer_under(filter, attempt.call), attempt.answer) << attempt.what;
  }
}

Attempt bare(const char* what, long number, const char* answer) {
  return {what, [number] { return ::syscall(number, -1L, 0L, 0L, 0L, 0L, 0L); }, answer};
}

constexpr unsigned long high_bit = 1UL << 32;

// --- the program itself --------------------------------------------------------------------------

TEST(CompileFilter, KnowsEveryCallItsPoliciesName) {
  for (const auto profile : {SyscallProfile::native, SyscallProfile::node, SyscallProfile::python,
                             SyscallProfile::browser}) {
    for (const auto network :
         {NetworkMode::none, NetworkMode::loopback, NetworkMode::egress, NetworkMode::host}) {
      const auto filter = compile_filter(SyscallRules{.base = profile}, network);
      EXPECT_TRUE(filter.has_value()) << (filter ? "" : filter.error().text);
    }
  }
}

TEST(CompileFilter, FailsForACallThatNobodyKnows) {
  const std::string_view names[] = {"make_me_root"};
  const SyscallGroup group = {"wrong", "misspelt", names};
  const SyscallGroup* const groups[] = {&group};
  const auto filter = compile_filter(syscall_table(SyscallPolicy{.groups = groups, .refused = {}}));
  ASSERT_FALSE(filter.has_value());
  EXPECT_EQ(filter.error().text, "no system call is named make_me_root");
}

TEST(CompileFilter, FitsWhatOneProgramMayHold) {
  EXPECT_LT(filter_for(SyscallProfile::node).instructions.size(), 2048U);
}

// --- servers: what is refused, and how -----------------------------------------------------------

TEST(ServerFilter, SaysNotPermittedToWhatIsRefusedByName) {
  expect_answers(filter_for(SyscallProfile::node),
                 {bare("mount", SYS_mount, "EPERM"),
                  bare("umount2", SYS_umount2, "EPERM"),
                  bare("fsopen", SYS_fsopen, "EPERM"),
                  bare("open_tree", SYS_open_tree, "EPERM"),
                  bare("move_mount", SYS_move_mount, "EPERM"),
                  bare("pivot_root", SYS_pivot_root, "EPERM"),
                  bare("chroot", SYS_chroot, "EPERM"),
                  bare("unshare", SYS_unshare, "EPERM"),
                  bare("setns", SYS_setns, "EPERM"),
                  bare("ptrace", SYS_ptrace, "EPERM"),
                  bare("process_vm_readv", SYS_process_vm_readv, "EPERM"),
                  bare("pidfd_getfd", SYS_pidfd_getfd, "EPERM"),
                  bare("userfaultfd", SYS_userfaultfd, "EPERM"),
                  bare("bpf", SYS_bpf, "EPERM"),
                  bare("perf_event_open", SYS_perf_event_open, "EPERM"),
                  bare("keyctl", SYS_keyctl, "EPERM"),
                  bare("add_key", SYS_add_key, "EPERM"),
                  bare("request_key", SYS_request_key, "EPERM"),
                  bare("init_module", SYS_init_module, "EPERM"),
                  bare("kexec_load", SYS_kexec_load, "EPERM"),
                  bare("reboot", SYS_reboot, "EPERM"),
                  bare("swapon", SYS_swapon, "EPERM"),
                  bare("setuid", SYS_setuid, "EPERM"),
                  bare("setgroups", SYS_setgroups, "EPERM"),
                  bare("capset", SYS_capset, "EPERM"),
                  bare("sched_setscheduler", SYS_sched_setscheduler, "EPERM"),
                  bare("open_by_handle_at", SYS_open_by_handle_at, "EPERM")});
}

TEST(ServerFilter, SaysNotImplementedToWhatItNeverHeardOf) {
  expect_answers(
      filter_for(SyscallProfile::node),
      {bare("clone3", SYS_clone3, "ENOSYS"), bare("openat2", SYS_openat2, "ENOSYS"),
       bare("io_uring_setup", SYS_io_uring_setup, "ENOSYS"),
       bare("io_uring_enter", SYS_io_uring_enter, "ENOSYS"), bare("shmget", SYS_shmget, "ENOSYS"),
       bare("msgget", SYS_msgget, "ENOSYS"), bare("memfd_secret", SYS_memfd_secret, "ENOSYS"),
       bare("a call of the future", 2000, "ENOSYS"), bare("no call at all", -1, "ENOSYS")});
}

TEST(ServerFilter, LetsNoChildBeginInANewNamespace) {
  std::vector<Attempt> attempts;
  for (const unsigned long flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                   CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET}) {
    attempts.push_back(
        {"clone", [flag] { return ::syscall(SYS_clone, flag | SIGCHLD, 0, 0, 0, 0); }, "EPERM"});
    attempts.push_back(
        {"clone with a high bit",
         [flag] { return ::syscall(SYS_clone, high_bit | flag | SIGCHLD, 0, 0, 0, 0); }, "EPERM"});
  }
  expect_answers(filter_for(SyscallProfile::native), attempts);
}

TEST(ServerFilter, LetsNobodyTypeIntoATerminalWhateverTheHighBitsSay) {
  const auto request = [](unsigned long number) {
    return [number] { return ::syscall(SYS_ioctl, -1, number, 0); };
  };
  expect_answers(filter_for(SyscallProfile::python),
                 {{"TIOCSTI", request(TIOCSTI), "EPERM"},
                  {"TIOCSTI with a high bit", request(high_bit | TIOCSTI), "EPERM"},
                  {"TIOCLINUX", request(TIOCLINUX), "EPERM"},
                  {"TIOCLINUX with a high bit", request(high_bit | TIOCLINUX), "EPERM"},
                  {"TIOCSCTTY", request(TIOCSCTTY), "EPERM"},
                  {"an unlisted request", request(TIOCEXCL), "ENOTTY"},
                  {"FIONBIO", request(FIONBIO), "EBADF"}});
}

Attempt make_socket(const char* what, int family, int type, int protocol, const char* answer) {
  return {what, [=] { return ::socket(family, type, protocol); }, answer};
}

TEST(ServerFilter, MakesOnlyInternetSocketsAndRoutesInANamespaceOfItsOwn) {
  expect_answers(filter_for(SyscallProfile::node, NetworkMode::loopback),
                 {make_socket("unix", AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, "EAFNOSUPPORT"),
                  make_socket("tcp", AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_TCP, "allowed"),
                  make_socket("udp", AF_INET, SOCK_DGRAM, 0, "allowed"),
                  make_socket("routes", AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, "allowed"),
                  make_socket("audit", AF_NETLINK, SOCK_RAW, NETLINK_AUDIT, "EAFNOSUPPORT"),
                  make_socket("mptcp", AF_INET, SOCK_STREAM, 262, "EAFNOSUPPORT"),
                  make_socket("ping", AF_INET, SOCK_DGRAM, IPPROTO_ICMP, "EAFNOSUPPORT"),
                  make_socket("raw", AF_INET, SOCK_RAW, IPPROTO_ICMP, "EAFNOSUPPORT"),
                  make_socket("vsock", AF_VSOCK, SOCK_STREAM, 0, "EAFNOSUPPORT"),
                  make_socket("packet", AF_PACKET, SOCK_RAW, 0, "EAFNOSUPPORT"),
                  make_socket("alg", AF_ALG, SOCK_SEQPACKET, 0, "EAFNOSUPPORT"),
                  {"vsock with a high bit",
                   [] { return ::syscall(SYS_socket, high_bit | AF_VSOCK, SOCK_STREAM, 0); },
                   "EAFNOSUPPORT"}});
}

TEST(ServerFilter, MakesOnlyInternetSocketsInTheNetworkOfTheHost) {
  expect_answers(filter_for(SyscallProfile::node, NetworkMode::host),
                 {make_socket("unix", AF_UNIX, SOCK_STREAM, 0, "EAFNOSUPPORT"),
                  make_socket("routes", AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, "EAFNOSUPPORT"),
                  make_socket("tcp", AF_INET, SOCK_STREAM, 0, "allowed"),
                  make_socket("vsock", AF_VSOCK, SOCK_STREAM, 0, "EAFNOSUPPORT"),
                  {"a pair",
                   [] {
                     int ends[2];
                     return ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
                   },
                   "allowed"}});
}

TEST(ServerFilter, MakesNoFileThatLendsItsIdentity) {
  const auto mode = [](const char* path, mode_t bits) {
    return [=] { return ::syscall(SYS_chmod, path, bits); };
  };
  expect_answers(
      filter_for(SyscallProfile::native),
      {{"chmod u+s", mode("/nowhere", 04755), "EPERM"},
       {"chmod g+s", mode("/nowhere", 02755), "EPERM"},
       {"chmod", mode("/nowhere", 0755), "ENOENT"},
       {"fchmod u+s", [] { return ::syscall(SYS_fchmod, -1, 04755); }, "EPERM"},
       {"fchmodat u+s", [] { return ::syscall(SYS_fchmodat, -1, "x", 04755); }, "EPERM"},
       {"fchmodat2 u+s", [] { return ::syscall(452, -1, "x", 04755, 0); }, "EPERM"},
       {"creating u+s", [] { return ::syscall(SYS_openat, -1, "x", O_CREAT | O_WRONLY, 04755); },
        "EPERM"},
       {"a nameless file u+s",
        [] { return ::syscall(SYS_openat, -1, "x", O_TMPFILE | O_WRONLY, 04755); }, "EPERM"},
       {"reading, with rubbish for a mode",
        [] { return ::syscall(SYS_openat, -1, "x", O_RDONLY, 04755); }, "EBADF"},
       {"a device", [] { return ::syscall(SYS_mknodat, -1, "x", S_IFBLK | 0600, 0x100); }, "EPERM"},
       {"a pipe", [] { return ::syscall(SYS_mknodat, -1, "x", S_IFIFO | 0600, 0); }, "EBADF"}});
}

TEST(ServerFilter, LetsAProcessChangeOnlyHarmlessThingsAboutItself) {
  expect_answers(
      filter_for(SyscallProfile::native),
      {{"its name", [] { return ::prctl(PR_SET_NAME, "name", 0, 0, 0); }, "allowed"},
       {"its memory map", [] { return ::prctl(PR_SET_MM, 1, 0, 0, 0); }, "EPERM"},
       {"its securebits", [] { return ::prctl(PR_SET_SECUREBITS, 0, 0, 0, 0); }, "EPERM"},
       {"an unlisted option", [] { return ::prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0); }, "EINVAL"},
       {"asking for the personality", [] { return ::personality(0xffff'ffff); }, "allowed"},
       {"fixed addresses", [] { return ::personality(ADDR_NO_RANDOMIZE); }, "EPERM"},
       {"a listener",
        [] {
          return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                           0);
        },
        "EPERM"},
       {"a filter", [] { return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 0); },
        "EPERM"}});
}

TEST(ServerFilter, LetsAProcessFilterItselfWhereTheAdminSaysSo) {
  expect_answers(
      filter_for(SyscallRules{.base = SyscallProfile::native, .name = "own", .allow = {"seccomp"}}),
      {{"a listener",
        [] {
          return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                           0);
        },
        "EPERM"},
       {"a filter", [] { return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 0); },
        "EFAULT"}});
}

// --- calls of another ABI ------------------------------------------------------------------------

constexpr int call_was_made = 42;

#ifdef __x86_64__

/// _exit(42) through the 32-bit entry. A kernel without one sends SIGSEGV, which a sanitizer would
/// take for a fault of ours.
int exit_by_interrupt() {
  ::signal(SIGSEGV, SIG_DFL);
  long result = 1;  // i386: exit
  asm volatile("int $0x80" : "+a"(result) : "b"(call_was_made) : "memory");
  return static_cast<int>(result);
}

int exit_by_x32() {
  return static_cast<int>(::syscall(0x4000'0000 + SYS_exit_group, call_was_made));
}

struct Notified {
  std::string end;  ///< of the child, once killed
  bool arrived = false;
  seccomp_data data{};
};

/// Waits for the call or, when the machine has no such ABI, for the child's end.
Notified wait_for_call(pid_t child, int listener) {
  Notified notified;
  pollfd waiting{listener, POLLIN, 0};
  seccomp_notif notification{};
  if (::poll(&waiting, 1, -1) == 1 && (waiting.revents & POLLIN) != 0 &&
      ::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notification) == 0) {
    notified.arrived = true;
    notified.data = notification.data;
    ::kill(child, SIGKILL);
  }
  notified.end = end_of(child);
  return notified;
}

Notified notified_of(int (*call)()) {
  const FilterProgram filter = filter_for(SyscallProfile::native);
  auto sockets = make_seqpacket_pair();
  if (!sockets) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    testing_support::load_heard(filter, sockets->second.get());
    ::_exit(call() == -1 ? 1 : 0);
  }
  sockets->second.reset();
  char byte = 0;
  auto received = receive_record(sockets->first.get(), byte);
  if (!received || received->fds.size() != 1) return {.end = end_of(child)};
  return wait_for_call(child, received->fds[0].get());
}

TEST(ServerFilter, ReportsACallThroughThe32BitEntryInsteadOfMakingIt) {
  const Notified notified = notified_of(exit_by_interrupt);
  if (notified.end == "signal 11") GTEST_SKIP() << "this kernel has no 32-bit entry";
  ASSERT_TRUE(notified.arrived) << notified.end;
  EXPECT_EQ(notified.data.arch, std::uint32_t{AUDIT_ARCH_I386});
  EXPECT_EQ(notified.data.nr, 1);
  EXPECT_EQ(notified.end, "signal 9");
}

TEST(ServerFilter, ReportsAnX32CallInsteadOfMakingIt) {
  const Notified notified = notified_of(exit_by_x32);
  ASSERT_TRUE(notified.arrived) << notified.end;
  EXPECT_EQ(notified.data.arch, std::uint32_t{AUDIT_ARCH_X86_64});
  EXPECT_EQ(notified.data.nr, 0x4000'0000 + SYS_exit_group);
  EXPECT_EQ(notified.end, "signal 9");
}

TEST(ServerFilter, MakesNoForeignCallWhenNobodyListens) {
  const FilterProgram filter = filter_for(SyscallProfile::native);
  EXPECT_EQ(answer_under(filter, exit_by_x32, ReadResult::no), "ENOSYS");
  const std::string end =
      end_under(filter, [] { return exit_by_interrupt() == -ENOSYS ? 0 : 1; }, ReadResult::no);
  if (end == "signal 11") GTEST_SKIP() << "this kernel has no 32-bit entry";
  EXPECT_EQ(end, "exit 0");
}

TEST(InternalFilter, KillsWhoMakesAForeignCall) {
  EXPECT_EQ(end_under(filter_for(InternalProfile::gateway), exit_by_x32), "signal 31");
  EXPECT_EQ(end_under(filter_for(InternalProfile::init), exit_by_x32), "signal 31");
}

#endif

// --- cellblock's own processes -------------------------------------------------------------------

TEST(GatewayFilter, MovesBytesAndOpensNothingNew) {
  expect_answers(
      filter_for(InternalProfile::gateway),
      {bare("read", SYS_read, "EBADF"),
       bare("sendmmsg", SYS_sendmmsg, "ENOSYS"),
       bare("preadv2", SYS_preadv2, "EBADF"),
       bare("socket", SYS_socket, "ENOSYS"),
       bare("connect", SYS_connect, "ENOSYS"),
       bare("accept4", SYS_accept4, "ENOSYS"),
       bare("fork", SYS_fork, "ENOSYS"),
       bare("kill", SYS_kill, "ENOSYS"),
       bare("unshare", SYS_unshare, "ENOSYS"),
       {"a library", [] { return ::syscall(SYS_openat, AT_FDCWD, "/usr/bin/true", O_RDONLY, 0); },
        "allowed"},
       {"a file to write",
        [] { return ::syscall(SYS_openat, AT_FDCWD, "/tmp/new", O_WRONLY | O_CREAT, 0600); },
        "EACCES"}});
}

// What is allowed fails for want of the directory; what the filter refuses does not get so far.
TEST(GatewayFilter, MakesNewFilesAndOpensNoOldOneToWrite) {
  const auto opening = [](int flags) {
    return [flags] { return ::syscall(SYS_openat, AT_FDCWD, "/nowhere/file", flags, 0600); };
  };
  const auto removing = [](int flags) {
    return [flags] { return ::syscall(SYS_unlinkat, AT_FDCWD, "/nowhere/file", flags); };
  };
  constexpr int new_file = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  expect_answers(
      filter_for(InternalProfile::gateway),
      {{"a new file", opening(new_file), "ENOENT"},
       {"a file to read", opening(O_RDONLY | O_CLOEXEC), "ENOENT"},
       {"an old file", opening(O_WRONLY), "EACCES"},
       {"an old file, both ways", opening(O_RDWR), "EACCES"},
       {"new or old", opening(O_WRONLY | O_CREAT | O_NOFOLLOW), "EACCES"},
       {"new, both ways", opening(O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW), "EACCES"},
       {"through a link", opening(O_WRONLY | O_CREAT | O_EXCL), "EACCES"},
       {"cut to nothing", opening(new_file | O_TRUNC), "EACCES"},
       {"without a name", opening(O_WRONLY | O_TMPFILE), "EACCES"},
       {"removing a file", removing(0), "ENOENT"},
       {"removing a directory", removing(AT_REMOVEDIR), "EPERM"},
       {"a rename",
        [] { return ::syscall(SYS_renameat2, AT_FDCWD, "/nowhere/a", AT_FDCWD, "/nowhere/b", 0); },
        "ENOENT"},
       {"a directory", [] { return ::syscall(SYS_mkdirat, AT_FDCWD, "/nowhere/a", 0700); },
        "ENOSYS"},
       {"a link", [] { return ::syscall(SYS_symlinkat, "a", AT_FDCWD, "/nowhere/a"); }, "ENOSYS"},
       bare("fchmod", SYS_fchmod, "ENOSYS"),
       bare("ftruncate", SYS_ftruncate, "ENOSYS")});
}

// Of a gateway's descriptors, 4 is the launcher's channel.
TEST(GatewayFilter, SendsDescriptorsOverOneNumberThatNothingElseCanGet) {
  expect_answers(
      filter_for(InternalProfile::gateway),
      {{"a message to the launcher", [] { return ::syscall(SYS_sendmsg, 4, nullptr, 0); }, "EBADF"},
       {"a message to the supervisor", [] { return ::syscall(SYS_sendmsg, 3, nullptr, 0); },
        "EPERM"},
       {"a number with a high word",
        [] { return ::syscall(SYS_sendmsg, (1L << 32) + 3, nullptr, 0); }, "EPERM"},
       {"closing the channel", [] { return ::syscall(SYS_close, 4); }, "EPERM"},
       {"closing another", [] { return ::syscall(SYS_close, 5000); }, "EBADF"},
       {"marking it for exec", [] { return ::syscall(SYS_fcntl, 4, F_SETFD, FD_CLOEXEC); },
        "EPERM"},
       {"marking it by ioctl", [] { return ::syscall(SYS_ioctl, 4, FIOCLEX); }, "EPERM"},
       bare("dup2", SYS_dup2, "ENOSYS"),
       bare("dup3", SYS_dup3, "ENOSYS"),
       bare("close_range", SYS_close_range, "ENOSYS")});
}

TEST(InitFilter, WaitsAndReportsAndDiesOtherwise) {
  const FilterProgram filter = filter_for(InternalProfile::init);
  expect_answers(filter,
                 {bare("wait4", SYS_wait4, "ECHILD"), bare("write", SYS_write, "EBADF"),
                  bare("getpid", SYS_getpid, "signal 31"), bare("openat", SYS_openat, "signal 31"),
                  bare("execve", SYS_execve, "signal 31")});
}

TEST(EgressFilter, MakesSocketsOfTcpAndUdpAlone) {
  const auto making = [](int family, int type, int protocol) {
    return [=] { return ::syscall(SYS_socket, family, type, protocol); };
  };
  expect_answers(filter_for(InternalProfile::egress),
                 {{"TCP", making(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "allowed"},
                  {"TCP by name", making(AF_INET, SOCK_STREAM, IPPROTO_TCP), "allowed"},
                  {"UDP", making(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), "allowed"},
                  {"UDP by name", making(AF_INET, SOCK_DGRAM, IPPROTO_UDP), "allowed"},
                  {"MPTCP", making(AF_INET, SOCK_STREAM, 262), "EACCES"},
                  {"SCTP", making(AF_INET, SOCK_STREAM, IPPROTO_SCTP), "EACCES"},
                  {"a ping", making(AF_INET, SOCK_DGRAM, IPPROTO_ICMP), "EACCES"},
                  {"UDP-Lite", making(AF_INET6, SOCK_DGRAM, IPPROTO_UDPLITE), "EACCES"}});
}

TEST(OwnFilters, LetAProcessChangeItsOwnLimitsAlone) {
  const auto limits_of = [](pid_t pid) {
    return [=] { return ::syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, nullptr, nullptr); };
  };
  for (const auto profile : {InternalProfile::gateway, InternalProfile::audit_writer,
                             InternalProfile::egress, InternalProfile::http}) {
    expect_answers(filter_for(profile), {{"its own", limits_of(0), "allowed"},
                                         {"those of another", limits_of(1), "EPERM"}});
  }
}

// --- programs that must live ---------------------------------------------------------------------

std::string end_of_program(const FilterProgram& filter, std::vector<const char*> arguments) {
  if (::access(arguments[0], X_OK) != 0) return "missing";
  arguments.push_back(nullptr);
  return end_under(filter, [&] {
    ::execv(arguments[0], const_cast<char* const*>(arguments.data()));
    return 127;
  });
}

constexpr const char* node_script =
    "const os=require('os'),cp=require('child_process'),fs=require('fs');"
    "os.networkInterfaces();cp.execFileSync('/bin/true');"
    "new (require('worker_threads').Worker)('0',{eval:true});"
    "fs.promises.readdir('/').then(()=>0)";
constexpr const char* node_network_script =
    "require('net').createServer().listen(0,'127.0.0.1',function(){this.close()})";
constexpr const char* python_script =
    "import asyncio, json, ssl, subprocess, threading, os\n"
    "async def main():\n"
    "  process = await asyncio.create_subprocess_exec('/bin/true')\n"
    "  assert await process.wait() == 0\n"
    "asyncio.run(main())\n"
    "subprocess.run(['/bin/sh', '-c', 'true | true'], check=True)\n"
    "t = threading.Thread(target=lambda: None); t.start(); t.join()\n";

TEST(ServerFilter, RunsNode) {
  const std::pair<NetworkMode, const char*> runs[] = {{NetworkMode::none, node_script},
                                                      {NetworkMode::loopback, node_script},
                                                      {NetworkMode::loopback, node_network_script},
                                                      {NetworkMode::host, "setTimeout(()=>0, 1)"}};
  for (const auto& [network, script] : runs) {
    const auto end =
        end_of_program(filter_for(SyscallProfile::node, network), {"/usr/bin/node", "-e", script});
    if (end == "missing") GTEST_SKIP() << "node is not installed";
    EXPECT_EQ(end, "exit 0");
  }
}

TEST(ServerFilter, RunsPython) {
  const auto end =
      end_of_program(filter_for(SyscallProfile::python), {"/usr/bin/python3", "-c", python_script});
  if (end == "missing") GTEST_SKIP() << "python3 is not installed";
  EXPECT_EQ(end, "exit 0");
}

TEST(ServerFilter, RunsNativePrograms) {
  const FilterProgram filter = filter_for(SyscallProfile::native);
  EXPECT_EQ(end_of_program(filter, {"/bin/true"}), "exit 0");
  EXPECT_EQ(end_of_program(filter, {"/bin/sh", "-c", "ls -l / | sort | grep -q usr"}), "exit 0");
}

// As the launcher starts cellblock's own programs.
std::string end_of_open_program(const FilterProgram& filter, const char* path) {
  const Fd program(::open(path, O_PATH | O_CLOEXEC));
  return end_under(filter, [&] {
    char* const arguments[] = {const_cast<char*>(path), nullptr};
    ::syscall(SYS_execveat, program.get(), "", arguments, environ, AT_EMPTY_PATH);
    return 127;
  });
}

TEST(OwnFilters, LetADynamicProgramStartByItsDescriptorAndEnd) {
  EXPECT_EQ(end_of_open_program(filter_for(InternalProfile::gateway), "/bin/true"), "exit 0");
  EXPECT_EQ(end_of_open_program(filter_for(InternalProfile::audit_writer), "/bin/true"), "exit 0");
}

TEST(OwnFilters, RefuseTheOrdinaryExec) {
  EXPECT_EQ(end_of_program(filter_for(InternalProfile::gateway), {"/bin/true"}), "exit 127");
  EXPECT_EQ(end_of_program(filter_for(InternalProfile::audit_writer), {"/bin/true"}), "exit 127");
}

TEST(OwnFilters, KeepTheAuditLogAppendOnly) {
  EXPECT_EQ(end_under(filter_for(InternalProfile::audit_writer),
                      [] { return ::fcntl(1, F_SETFL, 0) < 0 && errno == ENOSYS ? 0 : 1; }),
            "exit 0");
}

}  // namespace
}  // namespace cellblock::launcher
