#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/cli/common/context.h"
#include "client/cli/terminal/style.h"
#include "policy/base/result.h"
#include "policy/doctor/finding.h"

/// What `cellblock doctor` found: read from the daemon, and as text.
namespace cellblock::cli {

/// What `cellblockd --doctor` prints, read back. An error: it is nothing of the kind.
Result<std::vector<DoctorFinding>> read_findings(const std::string& json);

/// What cellblockd finds on this machine, by trying it. One finding alone where there is no
/// cellblockd to ask.
std::vector<DoctorFinding> findings_of_machine(const Context& context);

/// A line for each, below it what mends it, and at the end what all of it means. `width`: of the
/// terminal; 0: no bound.
std::string findings_text(const std::vector<DoctorFinding>& findings, Style style,
                          std::size_t width);

/// {"outlook", "exit_code", "findings": […]}, in one line.
std::string findings_json(const std::vector<DoctorFinding>& findings, int exit_code);

}  // namespace cellblock::cli
