#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "policy/syscalls/syscall_policy.h"

namespace cellblock {

/// What every server is refused by name, so that the program reports "not permitted" rather than a
/// kernel too old. Static storage.
std::span<const RefusedCalls* const> refused_calls();
/// For profiles that let a process give up capabilities, of which it has none.
std::span<const RefusedCalls* const> refused_calls_but_capset();

/// The number of a call that is newer than some libseccomp's tables of names. From 424 on a call
/// has one number on every architecture, so a plain constant is right everywhere.
std::optional<int> recent_call_number(std::string_view name);
std::optional<std::string_view> recent_call_name(int number);

}  // namespace cellblock
