#pragma once

#include "policy/doctor/finding.h"
#include "policy/doctor/machine_facts.h"

namespace cellblock {

/// Whether a cell's namespaces can be made here, and by whom that was tried. Of remedies the one
/// that opens least comes first, and what weakens more than cellblock's own programs is called so.
DoctorFinding namespace_finding(const MachineFacts& facts);

}  // namespace cellblock
