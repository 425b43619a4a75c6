// open_for_writing PATH: writes nothing.

#include <fcntl.h>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) { return cellblock::probe::say(::open(argv[1], O_WRONLY) >= 0); }
