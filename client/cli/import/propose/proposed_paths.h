#pragma once

#include <string>

#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/propose/proposal.h"

namespace cellblock::cli {

enum class PathUse : std::uint8_t { read, write };

/// `path` as one that the cell sees at the same place, where it can be: what every cell has needs
/// no entry, and what no cell may have becomes a todo. Whose word it is goes into the note.
void propose_path(const std::string& path, PathUse use, const std::string& note,
                  const MachineView& machine, Proposal& proposal);

}  // namespace cellblock::cli
