#pragma once

#include "policy/config/config.h"
#include "policy/config_reader/complaint.h"
#include "policy/config_reader/config_text.h"

namespace cellblock {

/// `[audit]`: how the log is kept.
AuditRules check_audit(Complaints& complaints, const ConfigText& main);

}  // namespace cellblock
