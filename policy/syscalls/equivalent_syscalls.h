#pragma once

#include <string>
#include <vector>

#include "policy/config/config.h"

/// System calls that do the same by other names, as one library or another uses them: who refuses
/// one of them and not the rest refuses nothing. Pure.
namespace cellblock {

/// What is left open of one family.
struct OpenFamily {
  std::vector<std::string> refused;  ///< those under `refuse`, never empty
  std::vector<std::string> left;     ///< those that are still made, never empty
};

/// The families that `rules.refuse` names in part, in the order of the table.
std::vector<OpenFamily> open_families(const SyscallRules& rules);

}  // namespace cellblock
