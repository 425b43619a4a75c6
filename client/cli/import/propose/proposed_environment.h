#pragma once

#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/propose/proposal.h"
#include "client/cli/import/read/declared_server.h"

namespace cellblock::cli {

/// Variables as they are, but for secrets and placeholders: of those only the name is taken over,
/// and a file that the admin is to write.
void propose_environment(const DeclaredServer& server, const MachineView& machine,
                         const Places& places, Proposal& proposal);

}  // namespace cellblock::cli
