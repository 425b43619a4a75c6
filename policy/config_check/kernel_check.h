#pragma once

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_reader/config_text.h"

namespace cellblock {

/// `[sandbox]`: what the kernel must have. Nothing starts on less.
Kernel check_kernel(Complaints& complaints, const ConfigText& main, const HostFacts& facts);

}  // namespace cellblock
