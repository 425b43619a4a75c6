// mount_tmpfs: over /tmp.

#include <sys/mount.h>

#include "tests/containment/probes/verdict.h"

int main() { return cellblock::probe::say(::mount("probe", "/tmp", "tmpfs", 0, nullptr) == 0); }
