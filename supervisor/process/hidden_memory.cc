#include "supervisor/process/hidden_memory.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {

Result<void> hide_memory() {
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_CORE, &none) < 0) return sys_fail("setrlimit");
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return sys_fail("prctl");
  return {};
}

}  // namespace cellblock::daemon
