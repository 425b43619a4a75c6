#pragma once

#include <string>
#include <vector>

/// What is asked of the kernel by trying it, with nothing left behind. Blocking; the caller has one
/// thread.
namespace cellblock::daemon {

/// Names of system calls that the launcher makes and this kernel, or a filter around us, refuses.
std::vector<std::string> missing_system_calls();

/// The errno of a child that installs a filter with a listener (SECCOMP_RET_USER_NOTIF); 0: it did.
int attempt_notification();

}  // namespace cellblock::daemon
