// create_file PATH: and removes it again.

#include <fcntl.h>
#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) {
  const int file = ::open(argv[1], O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file < 0) return cellblock::probe::say(false);
  return cellblock::probe::say(::unlink(argv[1]) == 0);
}
