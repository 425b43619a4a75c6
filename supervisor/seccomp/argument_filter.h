#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "policy/base/result.h"
#include "policy/syscalls/syscall_table.h"

/// The part of a filter that libseccomp cannot say: "this call if one of these holds, else that
/// errno" (there an unconditional rule replaces the conditional ones), and comparisons of the low
/// 32 bits only. It runs first and ends by falling through to what libseccomp made.
namespace cellblock {

struct NumberedSyscall {
  int number = 0;
  const SyscallAnswer* call = nullptr;
};

/// The reporting of a refusal, as far as the filter has a listener.
constexpr Reporting reporting_within(Reporting wanted, Reporting possible) {
  return possible == Reporting::quiet ? Reporting::quiet : wanted;
}

/// Checks the ABI of the call, then the calls with argument rules. With Reporting::quiet no refusal
/// is notified, whatever the rules say.
Result<std::vector<sock_filter>> argument_filter(const std::vector<NumberedSyscall>& calls,
                                                 ForeignCall foreign, Reporting reporting);

}  // namespace cellblock
