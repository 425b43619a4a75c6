#include "supervisor/gateway/records/audit_budget.h"

#include <algorithm>

namespace cellblock::gateway {

bool AuditBudget::spend(Time now) {
  const Time full_at = std::max(full_at_, now) + one_per_;
  if (full_at > now + one_per_ * burst_) return false;
  full_at_ = full_at;
  return true;
}

}  // namespace cellblock::gateway
