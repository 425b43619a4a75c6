#include "supervisor/launcher/child/clone_child.h"

#include <linux/sched.h>
#include <sanitizer/asan_interface.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>

#include "supervisor/launcher/child/child_setup.h"

#if defined(__SANITIZE_ADDRESS__)
#endif

namespace cellblock::launcher {
namespace {

constexpr std::size_t guard_size = 64U << 10;
constexpr std::size_t stack_size = 256U << 10;

/// Used by one stage after the other. Below it nothing is mapped that an overflow could reach.
class Stack {
 public:
  Stack()
      : start_(mmap(nullptr, guard_size + stack_size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {
    if (start_ == MAP_FAILED) return;
    usable_ = mprotect(start_, guard_size, PROT_NONE) == 0;
  }
  bool usable() const { return usable_; }
  void* top() const { return static_cast<std::byte*>(start_) + guard_size + stack_size; }
  // A stage that never returned from a function leaves its frames marked.
  void forget_frames() const {
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(static_cast<std::byte*>(start_) + guard_size, stack_size);
#endif
  }

 private:
  void* start_;
  bool usable_ = false;
};

struct Errand {
  const StageWork& work;
  SysResult<void> result = std::unexpected(SysError{"stage", EOWNERDEAD});
};

// clone ends the process with what this returns, without running anybody's exit handlers.
int run_errand(void* argument) {
  auto& errand = *static_cast<Errand*>(argument);
  errand.result = errand.work();
  return 0;
}

void reap(pid_t stage) {
  while (waitpid(stage, nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

}  // namespace

SysResult<void> run_in_namespace(const StageWork& work) {
  static const Stack stack;
  if (!stack.usable()) return std::unexpected(SysError{"mmap", ENOMEM});
  Errand errand{work};
  // SIGCHLD is what a child made with CLONE_PARENT will end with: it takes that from its maker.
  const pid_t stage =
      clone(run_errand, stack.top(), CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &errand);
  if (stage < 0) return sys_fail("clone");
  reap(stage);
  stack.forget_frames();
  return errand.result;
}

namespace {

constexpr std::uint64_t namespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;

enum class Whose : std::uint8_t { the_callers, the_callers_parents };

SysResult<Cloned> clone_here(ChildPlan& plan, const CloneRequest& request, Whose child) {
  int pidfd = -1;
  clone_args args{};
  args.flags = namespaces | CLONE_PIDFD | CLONE_CLEAR_SIGHAND;
  args.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
  if (request.cgroup >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<std::uint64_t>(request.cgroup);
  }
  // A sibling ends with its maker's signal; the kernel refuses to be told one.
  child == Whose::the_callers ? args.exit_signal = SIGCHLD : args.flags |= CLONE_PARENT;
  const long pid = syscall(SYS_clone3, &args, sizeof args);
  if (pid < 0) return sys_fail("clone3");
  if (pid == 0) {
    // Its own copy of the writing end would hide the launcher's death from wait_for_launcher.
    close(request.go_writer);
    run_child(plan);
  }
  return Cloned{static_cast<pid_t>(pid), Fd(pidfd)};
}

SetupResult<Cloned> clone_into_network(ChildPlan& plan, const CloneRequest& request) {
  Cloned child;
  auto step = SetupStep::make_network;
  const auto made = run_in_namespace([&]() -> SysResult<void> {
    if (setns(request.network, CLONE_NEWNET) < 0) return sys_fail("setns");
    step = SetupStep::clone;
    child = CELLBLOCK_TRY(clone_here(plan, request, Whose::the_callers_parents));
    return {};
  });
  if (made) return child;
  // The stage was killed after it had made the child.
  if (child.pidfd.valid()) end_and_reap(child);
  return failed_at(step, made.error());
}

}  // namespace

SetupResult<Cloned> clone_child(ChildPlan& plan, const CloneRequest& request) {
  if (request.network >= 0) return clone_into_network(plan, request);
  auto child = clone_here(plan, request, Whose::the_callers);
  if (!child) return failed_at(SetupStep::clone, child.error());
  return std::move(*child);
}

void end_and_reap(const Cloned& child) {
  syscall(SYS_pidfd_send_signal, child.pidfd.get(), SIGKILL, nullptr, 0);
  siginfo_t info{};
  while (waitid(P_PIDFD, static_cast<id_t>(child.pidfd.get()), &info, WEXITED) < 0 &&
         errno == EINTR) {
  }
}

}  // namespace cellblock::launcher
