// trace_sibling: a child of this very program, which it could kill.

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main() {
  const pid_t sibling = ::fork();
  if (sibling == 0) {
    ::pause();
    ::_exit(0);
  }
  const bool traced = ::ptrace(PTRACE_SEIZE, sibling, nullptr, nullptr) == 0;
  const int error = errno;
  ::kill(sibling, SIGKILL);
  ::waitpid(sibling, nullptr, 0);
  errno = error;
  return cellblock::probe::say(traced);
}
