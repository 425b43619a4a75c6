// keep_inherited_descriptor: anything open besides standard input, output and error.

#include <fcntl.h>

#include "tests/containment/probes/verdict.h"

int main() {
  for (int descriptor = 3; descriptor < 65'536; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) return cellblock::probe::say(true);
  }
  return cellblock::probe::say(false);
}
