// lend_identity PATH: makes a file that runs under this user's identity whoever starts it.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) {
  if (::close(::open(argv[1], O_WRONLY | O_CREAT, 0700)) < 0) return cellblock::probe::say(false);
  const bool lent = ::chmod(argv[1], 04755) == 0;
  const int error = errno;
  ::unlink(argv[1]);
  errno = error;
  return cellblock::probe::say(lent);
}
