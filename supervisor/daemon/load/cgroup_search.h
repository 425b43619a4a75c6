#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "policy/config/config.h"
#include "policy/config_check/facts_wanted.h"
#include "supervisor/daemon/load/cgroup_text.h"

/// Finds the control group below which the cells will get theirs. Reads only; blocking.
namespace cellblock::daemon {

/// `owners`: who may own the group and what is above it. The directory in the answer is empty where
/// there is no group to be used, and missing_because says why.
Cgroup look_for_cgroup(const CgroupChoice& choice, LookPurpose purpose,
                       std::span<const uid_t> owners);

}  // namespace cellblock::daemon
