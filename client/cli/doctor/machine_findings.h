#pragma once

#include <string>
#include <vector>

#include "client/cli/common/context.h"
#include "policy/base/result.h"
#include "policy/doctor/finding.h"

namespace cellblock::cli {

/// What `cellblockd --doctor` prints, read back. An error: it is nothing of the kind.
Result<std::vector<DoctorFinding>> read_findings(const std::string& json);

/// What cellblockd finds on this machine, by trying it. One finding alone where there is no
/// cellblockd to ask.
std::vector<DoctorFinding> findings_of_machine(const Context& context);

}  // namespace cellblock::cli
