// become_other_user: by a call, when it has the right to.

#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main() { return cellblock::probe::say(::setresuid(65'534, 65'534, 65'534) == 0); }
