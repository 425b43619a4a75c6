#include "supervisor/launcher/child/run_in_namespace.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
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

}  // namespace cellblock::launcher
