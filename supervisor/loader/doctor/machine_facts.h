#pragma once

#include <string>
#include <vector>

#include "policy/doctor/finding.h"
#include "policy/doctor/machine_checks.h"

/// Facts about this machine for `cellblockd --doctor`, and the findings as JSON.
namespace cellblock::daemon {

/// Gathers what cells of that mode need from this machine, by the configuration in `config_path`
/// where that exists and is usable. Tries mechanisms in child processes. Blocking.
MachineFacts gather_machine_facts(RunMode mode, const std::string& config_path);

/// One JSON object, {"findings": [{"check", "result", "needed_for", "says", "remedy": []}]}, with a
/// newline: `cellblock doctor` shows it with its own findings.
std::string machine_report(const std::vector<DoctorFinding>& findings);

}  // namespace cellblock::daemon
