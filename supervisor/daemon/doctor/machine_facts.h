#pragma once

#include <string>
#include <vector>

#include "policy/doctor/finding.h"
#include "policy/doctor/machine_checks.h"

/// This machine for `cellblockd --doctor`: facts about it, and the findings as JSON.
namespace cellblock::daemon {

/// Looks at this machine for cells of that mode, as the configuration in `config_path` has them
/// where it is there and usable. What can be tried is tried, in children. Blocking.
MachineFacts gather_machine_facts(RunMode mode, const std::string& config_path);

/// One JSON object, {"findings": [{"check", "result", "needed_for", "says", "remedy": []}]}, with a
/// newline: `cellblock doctor` shows it with what it finds itself.
std::string machine_report(const std::vector<DoctorFinding>& findings);

}  // namespace cellblock::daemon
