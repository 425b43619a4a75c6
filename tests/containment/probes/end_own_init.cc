// end_own_init: SIGKILL to pid 1, whose death would end this process as well. For cells only.

#include <signal.h>

#include "tests/containment/probes/verdict.h"

int main() {
  const int answer = ::kill(1, SIGKILL);
  std::printf("still alive after %d\n", answer);
  return 0;
}
