// add_key: to the keyring that all processes of one user share.

#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/containment/probes/verdict.h"

int main() {
  return cellblock::probe::say(
      ::syscall(SYS_add_key, "user", "cellblock-probe", "x", 1, KEY_SPEC_USER_KEYRING) >= 0);
}
