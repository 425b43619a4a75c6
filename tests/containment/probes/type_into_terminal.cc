// type_into_terminal: TIOCSTI, with a bit set above the 32 that the kernel reads; into a terminal
// of its own where it can open one, else into standard input.

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/containment/probes/verdict.h"

namespace {

int open_terminal() {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) return STDIN_FILENO;
  ::setsid();
  char name[64] = {};
  ::ptsname_r(master, name, sizeof name);
  return ::open(name, O_RDWR);  // NOLINT: becomes the controlling terminal
}

}  // namespace

int main() {
  char key = 'x';
  constexpr unsigned long high_bit = 1UL << 32;
  return cellblock::probe::say(::syscall(SYS_ioctl, open_terminal(), high_bit | TIOCSTI, &key) ==
                               0);
}
