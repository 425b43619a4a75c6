#pragma once

#include "client/cli/import/declared_server.h"
#include "client/cli/import/machine_view.h"
#include "client/cli/import/proposal.h"

namespace cellblock::cli {

/// Variables as they are, but for secrets and placeholders: of those only the name is taken over,
/// and a file that the admin is to write.
void propose_environment(const DeclaredServer& server, const MachineView& machine,
                         const Places& places, Proposal& proposal);

}  // namespace cellblock::cli
