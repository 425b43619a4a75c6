#pragma once

#include <cstdint>
#include <vector>

#include "policy/syscalls/syscall_table.h"

namespace cellblock {

/// What one numbered call fails with, by its arguments.
struct NumberedAnswer {
  std::int32_t number = 0;
  std::span<const ArgumentRule> rules;  ///< static storage
  int otherwise = 0;
};

/// The errno of each call that a filter hands to its listener. Made with the filter, from the same
/// table: the number and the arguments of a notification alone decide. Pure.
class DeniedCallErrnos {
 public:
  DeniedCallErrnos() = default;
  /// `answers` in any order, each number once.
  explicit DeniedCallErrnos(std::vector<NumberedAnswer> answers);

  /// Never 0: a call that is not in the table was unlisted (ENOSYS), and one that the table allows
  /// cannot have been notified (EPERM).
  int error_for(std::int32_t number, const ArgumentWords& words) const;

 private:
  std::vector<NumberedAnswer> answers_;  ///< by number
};

}  // namespace cellblock
