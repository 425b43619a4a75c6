// set_up_io_uring: its queue would carry calls past the filter.

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main() {
  io_uring_params parameters{};
  return cellblock::probe::say(::syscall(SYS_io_uring_setup, 1, &parameters) >= 0);
}
