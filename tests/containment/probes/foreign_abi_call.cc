// foreign_abi_call: getpid through the 32-bit entry.

#include "tests/containment/probes/verdict.h"

int main() {
  long result = 20;  // i386: getpid
#ifdef __x86_64__
  asm volatile("int $0x80" : "+a"(result) : : "memory");
#endif
  errno = ENOSYS;
  return cellblock::probe::say(result > 0);
}
