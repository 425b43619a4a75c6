// see_variable NAME: in its own environment.

#include <cstdlib>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  if (std::getenv(argv[1]) != nullptr) return cellblock::probe::say(true);
  return cellblock::probe::say_refused(ENOENT);
}
