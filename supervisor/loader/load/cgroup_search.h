#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "policy/config/config.h"
#include "policy/config_check/facts_wanted.h"
#include "supervisor/loader/load/cgroup_text.h"

/// Finds the control group for the cells' groups. Reads only; blocking.
namespace cellblock::daemon {

/// `owners`: uids that may own the group and the directories above it. An empty directory in the
/// result: there is no usable group, and missing_because says why.
Cgroup look_for_cgroup(const CgroupChoice& choice, LookPurpose purpose,
                       std::span<const uid_t> owners);

}  // namespace cellblock::daemon
