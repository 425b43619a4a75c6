// start_processes COUNT: that many at the same time.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) {
  std::vector<pid_t> children;
  int error = 0;
  for (int i = 0; i < std::atoi(argv[1]) && error == 0; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::pause();
    if (child < 0) error = errno;
    if (child > 0) children.push_back(child);
  }
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  errno = error;
  return cellblock::probe::say(error == 0);
}
