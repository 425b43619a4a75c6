#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "policy/result.h"
#include "policy/syscall_policy.h"

/// The part of a filter that libseccomp cannot say: "this call if one of these holds, else that
/// errno" (there an unconditional rule replaces the conditional ones), and comparisons of the low
/// 32 bits only. It runs first and ends by falling through to what libseccomp made.
namespace cellblock::launcher {

struct NumberedCall {
  int number = 0;
  RuledCall call;
};

/// Checks the ABI of the call, then the calls with argument rules.
Result<std::vector<sock_filter>> argument_filter(const std::vector<NumberedCall>& calls,
                                                 ForeignCall foreign);

}  // namespace cellblock::launcher
