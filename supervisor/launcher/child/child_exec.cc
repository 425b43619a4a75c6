#include "supervisor/launcher/child/child_exec.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "policy/failures/setup_step.h"
#include "supervisor/launcher/child/child_report.h"
#include "supervisor/launcher/child/landlock_ruleset.h"

namespace cellblock::launcher {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half native_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half native_machine = EM_AARCH64;
#else
#error "name this architecture's ELF machine"
#endif

ExecDetail diagnose_mode(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return ExecDetail::is_directory;
  return ExecDetail::not_executable;
}

ExecDetail diagnose_content(const char* path, int error) {
  char head[sizeof(Elf64_Ehdr)] = {};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ExecDetail::none;
  const ssize_t count = read(fd, head, sizeof head);
  close(fd);
  if (count >= 2 && head[0] == '#' && head[1] == '!') return ExecDetail::interpreter_missing;
  const bool elf =
      count >= static_cast<ssize_t>(sizeof head) && std::memcmp(head, ELFMAG, SELFMAG) == 0;
  if (!elf) return ExecDetail::unknown_format;
  Elf64_Ehdr header;
  std::memcpy(&header, head, sizeof header);
  if (header.e_machine != native_machine) return ExecDetail::wrong_architecture;
  return error == ENOENT ? ExecDetail::loader_missing : ExecDetail::unknown_format;
}

// Why execve of `path` failed with `error`, found by looking at the file from inside the cell,
// with the server's own rights. Rules as in child_setup.h.
ExecDetail diagnose_exec(const char* path, int error) noexcept {
  struct stat status{};
  if (stat(path, &status) < 0)
    return error == ENOENT ? ExecDetail::command_missing : ExecDetail::none;
  if (error == EACCES) return diagnose_mode(status);
  return diagnose_content(path, error);
}

// The kernel's structures as of ABI 6. An older kernel accepts the longer form while what it does
// not know is zero.
struct RulesetWords {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scopes;
};

struct __attribute__((packed)) PathWords {
  std::uint64_t access;
  std::int32_t descriptor;
};

struct PortWords {
  std::uint64_t access;
  std::uint64_t port;
};

bool close_keeping_errno(int descriptor, bool done) {
  const int error = errno;
  close(descriptor);
  errno = error;
  return done;
}

// A directory that the server writes may hold a link where a mount point was declared; a rule must
// not go where that leads.
int open_place(const char* path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how));
}

bool permit(int ruleset, int place, std::uint64_t access) {
  struct stat found{};
  if (fstat(place, &found) < 0) return false;
  const std::uint64_t possible = S_ISDIR(found.st_mode) ? access : access & landlock::of_files;
  const PathWords words{possible, place};
  return syscall(SYS_landlock_add_rule, ruleset, landlock::rule_path_beneath, &words, 0) == 0;
}

bool add_paths(int ruleset, const LandlockRuleset& plan) {
  for (const LandlockPathRule& rule : plan.paths) {
    const int place = open_place(rule.path.c_str());
    if (place < 0) return false;
    if (!close_keeping_errno(place, permit(ruleset, place, rule.access))) return false;
  }
  return true;
}

bool add_ports(int ruleset, const LandlockRuleset& plan) {
  for (const LandlockPortRule& rule : plan.ports) {
    const PortWords words{rule.access, rule.port};
    if (syscall(SYS_landlock_add_rule, ruleset, landlock::rule_net_port, &words, 0) < 0) {
      return false;
    }
  }
  return true;
}

// One of cellblock's programs lies outside the cell: only this descriptor leads to it.
bool add_program(int ruleset, const ChildPlan& plan) {
  constexpr std::uint64_t run = landlock::execute | landlock::read_file;
  return plan.program < 0 || permit(ruleset, plan.program, run);
}

bool fill_and_enter(int ruleset, const ChildPlan& plan) {
  return add_paths(ruleset, *plan.landlock) && add_ports(ruleset, *plan.landlock) &&
         add_program(ruleset, plan) && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

}  // namespace

bool enter_landlock(ChildPlan& plan) {
  const LandlockRuleset& wanted = *plan.landlock;
  if ((wanted.files | wanted.network | wanted.scopes) == 0) return true;
  const RulesetWords words{wanted.files, wanted.network, wanted.scopes};
  const long ruleset = syscall(SYS_landlock_create_ruleset, &words, sizeof words, 0);
  if (ruleset < 0) return false;
  return close_keeping_errno(static_cast<int>(ruleset),
                             fill_and_enter(static_cast<int>(ruleset), plan));
}

namespace {

// No source is below first_plan_fd (child_plan.h), so no dup2 overwrites one that is still needed.
bool place_stdio(ChildPlan& plan) {
  for (int target = 0; target < plan.fd_count; ++target) {
    if (dup2(plan.fds[static_cast<std::size_t>(target)], target) < 0) return false;
  }
  if (dup3(plan.report, plan.fd_count, O_CLOEXEC) < 0) return false;
  plan.report = plan.fd_count;
  if (plan.program < 0) return true;
  if (dup3(plan.program, plan.fd_count + 1, O_CLOEXEC) < 0) return false;
  plan.program = plan.fd_count + 1;
  return true;
}

bool close_descriptors(ChildPlan& plan) {
  const int last = plan.program < 0 ? plan.report : plan.program;
  return syscall(SYS_close_range, last + 1, ~0U, 0) == 0;
}

// Dispositions were reset by CLONE_CLEAR_SIGHAND; init's blocked signals are still blocked.
bool reset_signals(ChildPlan&) {
  sigset_t none;
  sigemptyset(&none);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread, for good
  return sigprocmask(SIG_SETMASK, &none, nullptr) == 0 && setsid() >= 0;
}

bool send_listener(const ChildPlan& plan, int listener) {
  const ChildReport report{.kind = ChildReportKind::listener};
  iovec part{const_cast<ChildReport*>(&report), sizeof report};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &listener, sizeof(int));
  return sendmsg(plan.report, &message, MSG_NOSIGNAL) >= 0;
}

// From 5.19 on a caller whose refusal is being answered is woken by the answer or by its death, and
// by no other signal, so that no refusal is asked for, and counted, twice.
long load_with_listener(const sock_fprog* filter) {
  constexpr unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  const long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, filter);
  if (listener >= 0 || errno != EINVAL) return listener;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, filter);
}

bool load_filter(ChildPlan& plan) {
  if (plan.listener == ChildPlan::Listener::none) {
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, plan.server_filter) == 0;
  }
  const long listener = load_with_listener(plan.server_filter);
  if (listener < 0) return false;
  // Close-on-exec by itself; but the server must not get even that far with it.
  const bool sent = send_listener(plan, static_cast<int>(listener));
  const int error = errno;
  close(static_cast<int>(listener));
  errno = error;
  return sent;
}

// Returns only when it failed.
void execute_program(const ChildPlan& plan) {
  if (plan.program < 0) {
    execve(plan.path, plan.argv, plan.envp);
  } else {
    syscall(SYS_execveat, plan.program, "", plan.argv, plan.envp, AT_EMPTY_PATH);
  }
}

}  // namespace

void exec_server(ChildPlan& plan) noexcept {
  do_step(plan, SetupStep::place_stdio, place_stdio);
  do_step(plan, SetupStep::reset_signals, reset_signals);
  do_step(plan, SetupStep::close_descriptors, close_descriptors);
  do_step(plan, SetupStep::enter_landlock, enter_landlock);
  do_step(plan, SetupStep::load_filter, load_filter);
  if (!injected_fault(plan, SetupStep::exec)) execute_program(plan);
  const int error = errno;
  fail_step(plan, SetupStep::exec, error, diagnose_exec(plan.path, error));
}

}  // namespace cellblock::launcher
