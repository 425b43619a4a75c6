#include "supervisor/gateway/records/audit_budget.h"

#include <algorithm>

namespace cellblock::gateway {

bool AuditBudget::has_room(Time now) const {
  return std::max(full_at_, now) + one_per_ <= now + one_per_ * burst_;
}

bool AuditBudget::spend(Time now) {
  if (!has_room(now)) return false;
  full_at_ = std::max(full_at_, now) + one_per_;
  return true;
}

}  // namespace cellblock::gateway
