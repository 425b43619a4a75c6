// link_file FROM TO: gives a file another name.

#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) { return cellblock::probe::say(::link(argv[1], argv[2]) == 0); }
