#include "supervisor/process/confinement.h"

#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {
namespace {

SysResult<bool> has_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> words{};
  if (::syscall(SYS_capget, &header, words.data()) < 0) return sys_fail("capget");
  return std::ranges::any_of(words, [](const __user_cap_data_struct& word) {
    return (word.effective | word.permitted | word.inheritable) != 0;
  });
}

}  // namespace

Result<void> prove_confined() {
  if (CELLBLOCK_TRY(has_capabilities())) return fail("it has capabilities");
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return fail("no_new_privs is not set");
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER) {
    return fail("it is under no filter of system calls");
  }
  return {};
}

}  // namespace cellblock::daemon
