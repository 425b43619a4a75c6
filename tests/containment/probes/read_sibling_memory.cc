// read_sibling_memory: of a child of this program, by process_vm_readv.

#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main() {
  int secret = 42;
  int copy = 0;
  const pid_t sibling = ::fork();
  if (sibling == 0) {
    ::pause();
    ::_exit(0);
  }
  const iovec here{&copy, sizeof copy};
  const iovec there{&secret, sizeof secret};
  const bool was_read = ::process_vm_readv(sibling, &here, 1, &there, 1, 0) == sizeof copy;
  const int error = errno;
  ::kill(sibling, SIGKILL);
  ::waitpid(sibling, nullptr, 0);
  errno = error;
  return cellblock::probe::say(was_read);
}
