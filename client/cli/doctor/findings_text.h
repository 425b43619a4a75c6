#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/cli/terminal/style.h"
#include "policy/doctor/finding.h"

namespace cellblock::cli {

/// A line for each, below it what mends it, and at the end what all of it means. `width`: of the
/// terminal; 0: no bound.
std::string findings_text(const std::vector<DoctorFinding>& findings, Style style,
                          std::size_t width);

/// {"outlook", "exit_code", "findings": […]}, in one line.
std::string findings_json(const std::vector<DoctorFinding>& findings, int exit_code);

}  // namespace cellblock::cli
