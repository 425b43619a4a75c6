#pragma once

#include <vector>

#include "policy/doctor/finding.h"
#include "policy/doctor/machine_facts.h"

/// What this machine gives to cells: facts in, findings out. Pure.
namespace cellblock {

std::vector<DoctorFinding> machine_findings(const MachineFacts& facts);

}  // namespace cellblock
