#pragma once

#include <string>
#include <vector>

#include "policy/doctor/finding.h"

namespace cellblock::daemon {

/// One JSON object, {"findings": [{"check", "result", "needed_for", "says", "remedy": []}]}, with a
/// newline: `cellblock doctor` shows it with what it finds itself.
std::string machine_report(const std::vector<DoctorFinding>& findings);

}  // namespace cellblock::daemon
