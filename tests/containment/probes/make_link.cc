// make_link TARGET PATH: makes a symbolic link.

#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) { return cellblock::probe::say(::symlink(argv[1], argv[2]) == 0); }
