#pragma once

#include "policy/config.h"
#include "policy/config_text.h"
#include "policy/host_facts.h"

namespace cellblock {

/// `[sandbox]`: what the kernel must have. Nothing starts on less.
Kernel check_kernel(Complaints& complaints, const ConfigText& main, const HostFacts& facts);

}  // namespace cellblock
