// read_file PATH

#include <fcntl.h>
#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) {
  char byte = 0;
  const int file = ::open(argv[1], O_RDONLY);
  return cellblock::probe::say(file >= 0 && ::read(file, &byte, 1) == 1);
}
