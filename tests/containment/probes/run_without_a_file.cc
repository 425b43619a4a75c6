// run_without_a_file: a program that exists in memory only.

#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/containment/probes/verdict.h"

int main(int argc, char** argv) {
  if (argc > 1) return cellblock::probe::say(true);
  const int memory = ::memfd_create("probe", 0);
  if (memory < 0) return cellblock::probe::say(false);
  std::ofstream("/proc/self/fd/" + std::to_string(memory), std::ios::binary)
      << std::ifstream("/proc/self/exe", std::ios::binary).rdbuf();
  char again[] = "again";
  char* arguments[] = {argv[0], again, nullptr};
  ::fexecve(memory, arguments, environ);
  return cellblock::probe::say(false);
}
