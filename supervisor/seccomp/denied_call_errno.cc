#include "supervisor/seccomp/denied_call_errno.h"

#include <algorithm>
#include <cerrno>

namespace cellblock {

DeniedCallErrnos::DeniedCallErrnos(std::vector<NumberedAnswer> answers)
    : answers_(std::move(answers)) {
  std::ranges::sort(answers_, {}, &NumberedAnswer::number);
}

int DeniedCallErrnos::error_for(std::int32_t number, const ArgumentWords& words) const {
  const auto found = std::ranges::lower_bound(answers_, number, {}, &NumberedAnswer::number);
  if (found == answers_.end() || found->number != number) return ENOSYS;
  const int error = error_of(found->rules, found->otherwise, words);
  return error == 0 ? EPERM : error;
}

}  // namespace cellblock
