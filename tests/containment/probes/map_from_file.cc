// map_from_file PATH: writes code there and maps it as such.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) {
  std::ofstream(argv[1], std::ios::binary)
      << std::ifstream("/proc/self/exe", std::ios::binary).rdbuf();
  const int file = ::open(argv[1], O_RDONLY | O_CLOEXEC);
  if (file < 0) return cellblock::probe::say(false);
  const void* code = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  const int error = errno;
  ::unlink(argv[1]);
  errno = error;
  return cellblock::probe::say(code != MAP_FAILED);
}
