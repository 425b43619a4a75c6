#include "supervisor/seccomp/install_filter.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace cellblock {

SysResult<void> install_filter(const FilterProgram& filter) {
  const sock_fprog program{static_cast<unsigned short>(filter.instructions.size()),
                           const_cast<sock_filter*>(filter.instructions.data())};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return sys_fail("seccomp");
  const int mode = ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
  if (mode < 0) return sys_fail("prctl(PR_GET_SECCOMP)");
  if (mode == SECCOMP_MODE_FILTER) return {};
  return std::unexpected(SysError{"prctl(PR_GET_SECCOMP)", EPERM});
}

}  // namespace cellblock
