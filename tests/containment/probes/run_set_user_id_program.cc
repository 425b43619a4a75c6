// run_set_user_id_program PATH: PATH is this program, owned by another user, with the set-user-id
// bit. The second time around it says whether the bit had an effect.

#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    if (::geteuid() != ::getuid()) return cellblock::probe::say(true);
    return cellblock::probe::say_refused(EPERM);
  }
  char* arguments[] = {argv[1], nullptr};
  ::execv(argv[1], arguments);
  return cellblock::probe::say(false);
}
