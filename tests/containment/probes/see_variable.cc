// see_variable NAME [VALUE]: in its own environment, and with this value.

#include <cstdlib>
#include <string_view>

#include "tests/containment/probes/verdict.h"

int main(int argc, char** argv) {
  const char* const value = std::getenv(argv[1]);  // NOLINT(concurrency-mt-unsafe): one thread
  if (value == nullptr) return cellblock::probe::say_refused(ENOENT);
  if (argc > 2 && std::string_view(value) != argv[2]) return cellblock::probe::say_refused(EINVAL);
  return cellblock::probe::say(true);
}
