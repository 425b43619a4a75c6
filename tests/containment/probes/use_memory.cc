// use_memory BYTES: touches every page of that much memory.

#include <sys/mman.h>

#include <cstdlib>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) {
  constexpr long page = 4096;
  const long bytes = std::atol(argv[1]);
  void* memory = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return cellblock::probe::say(false);
  for (long at = 0; at < bytes; at += page) static_cast<volatile char*>(memory)[at] = 1;
  return cellblock::probe::say(true);
}
