#pragma once

#include <string>
#include <vector>

#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/propose/proposal.h"
#include "client/cli/import/read/declared_server.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// The name as cellblock allows it. Empty: nothing of it is left.
std::string server_name_for(const std::string& declared);

/// An error: names that are none, or two that would be one. Two that are declared alike are one.
Result<std::vector<Proposal>> propose_all(const std::vector<DeclaredServer>& servers,
                                          const MachineView& machine, const Places& places);

}  // namespace cellblock::cli
