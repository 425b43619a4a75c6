// raise_limit: one more open file than it was given.

#include <sys/resource.h>

#include <algorithm>

#include "tests/containment/probes/verdict.h"

int main() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  ++limit.rlim_cur;
  limit.rlim_max = std::max(limit.rlim_cur, limit.rlim_max);
  return cellblock::probe::say(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
}
