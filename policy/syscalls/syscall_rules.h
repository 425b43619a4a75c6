#pragma once

#include <string>
#include <string_view>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/syscalls/syscall_table.h"

/// What one server may ask of the kernel: a profile, what the admin added and took away, W^X.
namespace cellblock {

/// Why no `[profile.NAME] allow` may name this call; empty: it may.
std::string_view never_allowed_because(std::string_view call);

/// Why no `refuse` may name it; empty: it may. A server could not be started without these.
std::string_view never_refused_because(std::string_view call);

/// Whether any kernel that is known here has a call of that name, on this architecture or another.
bool is_known_call(std::string_view name);

/// Fails, with a sentence for the administrator, when `rules` name a call that is unknown, that may
/// not be named there, or that they both allow and refuse.
Result<SyscallTable> syscall_table(const SyscallRules& rules, NetworkMode network);

}  // namespace cellblock
