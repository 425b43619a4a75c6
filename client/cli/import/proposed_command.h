#pragma once

#include "client/cli/import/declared_server.h"
#include "client/cli/import/machine_view.h"
#include "client/cli/import/proposal.h"

namespace cellblock::cli {

/// Command, program and profile, and what has to be installed first. Or `obstacle`.
void propose_command(const DeclaredServer& server, const MachineView& machine, const Places& places,
                     Proposal& proposal);

/// As one word of a shell.
std::string shell_word(const std::string& text);

}  // namespace cellblock::cli
