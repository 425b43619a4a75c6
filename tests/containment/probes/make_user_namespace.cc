// make_user_namespace unshare|clone|clone3: in which it would have every capability.

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string_view>

#include "tests/containment/probes/verdict.h"

namespace {

bool has_child(long child) {
  if (child == 0) ::_exit(0);
  if (child > 0) ::waitpid(static_cast<pid_t>(child), nullptr, 0);
  return child > 0;
}

bool by_clone3() {
  clone_args arguments{};
  arguments.flags = CLONE_NEWUSER;
  arguments.exit_signal = SIGCHLD;
  return has_child(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

}  // namespace

int main(int, char** argv) {
  const std::string_view way = argv[1];
  if (way == "unshare") return cellblock::probe::say(::unshare(CLONE_NEWUSER) == 0);
  if (way == "clone3") return cellblock::probe::say(by_clone3());
  return cellblock::probe::say(
      has_child(::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)));
}
