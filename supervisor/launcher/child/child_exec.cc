#include "supervisor/launcher/child/child_exec.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "supervisor/launcher/child/child_landlock.h"
#include "supervisor/launcher/child/child_report.h"
#include "supervisor/launcher/child/exec_diagnosis.h"

namespace cellblock::launcher {
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
void execute(const ChildPlan& plan) {
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
  if (!injected_fault(plan, SetupStep::exec)) execute(plan);
  const int error = errno;
  fail_step(plan, SetupStep::exec, error, diagnose_exec(plan.path, error));
}

}  // namespace cellblock::launcher
