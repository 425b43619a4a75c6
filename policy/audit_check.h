#pragma once

#include "policy/complaint.h"
#include "policy/config.h"
#include "policy/config_text.h"

namespace cellblock {

/// `[audit]`: how the log is kept.
AuditRules check_audit(Complaints& complaints, const ConfigText& main);

}  // namespace cellblock
