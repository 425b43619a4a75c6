// make_device PATH: the null device once more; and removes it again.

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) {
  if (::mknod(argv[1], S_IFCHR | 0600, ::makedev(1, 3)) < 0) return cellblock::probe::say(false);
  return cellblock::probe::say(::unlink(argv[1]) == 0);
}
