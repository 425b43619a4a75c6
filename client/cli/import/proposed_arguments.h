#pragma once

#include <string>
#include <vector>

#include "client/cli/import/machine_view.h"
#include "client/cli/import/proposal.h"

namespace cellblock::cli {

/// Appended to the command. What looks like a secret is not: TODO stands in its place. Directories
/// that they name become readable.
void propose_arguments(const std::vector<std::string>& arguments, const MachineView& machine,
                       Proposal& proposal);

}  // namespace cellblock::cli
