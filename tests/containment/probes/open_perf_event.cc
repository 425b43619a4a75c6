// open_perf_event: a software clock of this process.

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main() {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_CPU_CLOCK;
  event.exclude_kernel = 1;
  return cellblock::probe::say(::syscall(SYS_perf_event_open, &event, 0, -1, -1, 0) >= 0);
}
